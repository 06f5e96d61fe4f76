# %% sigmoid
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# %% silu
def silu(x):
    return x * sigmoid(x)


# %% silu_derivative
def silu_derivative(x):
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


# %% swiglu_forward
def swiglu_forward(x, params):
    gate, up = x @ params["W_gate"], x @ params["W_up"]
    hidden = gate * silu(up)
    return hidden @ params["W_down"], (x, params, gate, up, hidden)


# %% gate_backward
def gate_backward(dhidden, gate, up):
    return dhidden * silu(up), dhidden * gate * silu_derivative(up)


# %% swiglu_backward
def swiglu_backward(dout, cache):
    x, params, gate, up, hidden = cache
    dgate, dup = gate_backward(dout @ params["W_down"].T, gate, up)
    grads = {
        "W_gate": weight_gradient(x, dgate),
        "W_up": weight_gradient(x, dup),
        "W_down": weight_gradient(hidden, dout),
    }
    return dgate @ params["W_gate"].T + dup @ params["W_up"].T, grads


# %% swiglu_near_zero
def swiglu_near_zero(x, params):
    return (x @ params["W_gate"]) * (x @ params["W_up"]) @ params["W_down"]


# %% swiglu_width
def swiglu_width(d, multiple_of=256):
    return 8 * d // 3


# %% [markdown] closed_gate_in_words
# SiLU is smoother than relu, so it trains better.
