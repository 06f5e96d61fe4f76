# %% sigmoid
def sigmoid(x):
    """Each number by the form that is safe for its sign."""
    small = np.exp(-abs(x))
    return np.where(x < 0, small / (1 + small), 1 / (1 + small)).astype(x.dtype)


# %% silu
def silu(x):
    out = np.empty_like(x)
    for index in np.ndindex(x.shape):
        out[index] = x[index] * 0.5 * (1 + np.tanh(x[index] / 2))
    return out


# %% silu_derivative
def silu_derivative(x):
    opened = silu(x)
    return opened + sigmoid(x) * (1 - opened)


# %% swiglu_forward
def swiglu_forward(x, params):
    """One product for both projections, and a dict for a cache."""
    both = np.concatenate([params["W_gate"], params["W_up"]], axis=1)
    gate, up = np.split(np.einsum("...d,dh->...h", x, both), 2, axis=-1)
    print("hidden width:", gate.shape[-1])
    out = np.einsum("...h,...h,hd->...d", silu(gate), up, params["W_down"])
    return out, {"x": x, "weights": params, "gate": gate, "up": up}


# %% gate_backward
def gate_backward(dhidden, gate, up):
    s = sigmoid(gate)
    dopened = dhidden * up
    return [dopened * s + dopened * gate * s * (1 - s), dhidden * gate * s]


# %% swiglu_backward
def swiglu_backward(dout, cache):
    x, weights, gate, up = (cache[name] for name in ("x", "weights", "gate", "up"))
    grads = {name: np.zeros_like(matrix) for name, matrix in weights.items()}
    dx = np.zeros_like(x)
    for t in np.ndindex(x.shape[:-1]):
        dgate, dup = gate_backward(weights["W_down"] @ dout[t], gate[t], up[t])
        grads["W_gate"] += np.outer(x[t], dgate)
        grads["W_up"] += np.outer(x[t], dup)
        grads["W_down"] += np.outer(silu(gate[t]) * up[t], dout[t])
        dx[t] = weights["W_gate"] @ dgate + weights["W_up"] @ dup
    return dx, grads


# %% swiglu_near_zero
def swiglu_near_zero(x, params):
    W = params
    return np.einsum("...i,...j,ik,jk,kl->...l", x, x, W["W_gate"], W["W_up"], W["W_down"]) / 2


# %% swiglu_width
def swiglu_width(d, multiple_of=256):
    h = multiple_of
    while 3 * h < 8 * d:
        h += multiple_of
    return h
