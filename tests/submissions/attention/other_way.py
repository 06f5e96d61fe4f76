# %% causal_mask
def causal_mask(T, S):
    return [[key <= S - T + query for key in range(S)] for query in range(T)]


# %% softmax
def softmax(scores):
    """Through the logarithm of the sum."""
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


# %% rope_angles
def rope_angles(positions, K, rope_base=10_000.0):
    step = np.exp(-2 * np.log(rope_base) / K)
    return np.array([[p * step**i for i in range(K // 2)] for p in positions])


# %% turn_pairs
def turn_pairs(x, angles):
    """A pair is a complex number, a turn is a product."""
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * np.asarray(angles))
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)


# %% causal_attention_forward
def causal_attention_forward(q, k, v):
    """One query after the other, each with the keys that it may see; no mask is needed."""
    H, T, K = q.shape[-3:]
    H_kv, S = k.shape[-3:-1]
    out = np.zeros(q.shape, dtype=q.dtype)
    weights = np.zeros((*q.shape[:-1], S), dtype=q.dtype)
    for head in range(H):
        shared = head // (H // H_kv)
        for t in range(T):
            seen = S - T + t + 1
            scores = np.einsum("...k,...sk->...s", q[..., head, t, :], k[..., shared, :seen, :])
            p = softmax(scores / K**0.5)
            weights[..., head, t, :seen] = p
            out[..., head, t, :] = np.einsum("...s,...sk->...k", p, v[..., shared, :seen, :])
    return out, {"weights": weights}


# %% causal_self_attention_forward
def causal_self_attention_forward(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Projections by einsum with the heads as an axis of their own."""
    d, width = params["W_q"].shape
    K = width // n_heads
    cache = {"x": x, "K": K, "W": {}}
    angles = rope_angles(range(x.shape[-2]) if positions is None else positions, K, rope_base)
    for name in ("q", "k", "v"):
        W = params["W_" + name].reshape(d, -1, K)
        rows = np.einsum("...td,dhk->...htk", x, W)
        cache["W"][name] = W
        cache[name] = rows if name == "v" else turn_pairs(rows, angles)
    mixed, inner = causal_attention_forward(cache["q"], cache["k"], cache["v"])
    W_o = params["W_o"].reshape(n_heads, K, d)
    cache |= {"angles": angles, "mixed": mixed, "p": inner["weights"], "W_o": W_o}
    print("heads:", n_heads)
    return np.einsum("...htk,hkd->...td", mixed, W_o), cache


# %% softmax_backward
def softmax_backward(dweights, weights):
    """Every pair of keys: p_s p_r (g_s − g_r)."""
    difference = dweights[..., :, None] - dweights[..., None, :]
    return np.einsum("...s,...r,...sr->...s", weights, weights, difference)


# %% causal_self_attention_backward
def causal_self_attention_backward(dout, cache):
    x, p, q = cache["x"], cache["p"], cache["q"]
    H, T, K = q.shape[-3:]
    H_kv, d = cache["k"].shape[-3], x.shape[-1]
    dmixed = np.einsum("...td,hkd->...htk", dout, cache["W_o"])
    dheads = {name: np.zeros_like(cache[name]) for name in ("q", "k", "v")}
    for head in range(H):
        shared = head // (H // H_kv)
        g, weights = dmixed[..., head, :, :], p[..., head, :, :]
        dp = np.einsum("...tk,...sk->...ts", g, cache["v"][..., shared, :, :])
        ds = softmax_backward(dp, weights) * K**-0.5
        dheads["q"][..., head, :, :] = ds @ cache["k"][..., shared, :, :]
        dheads["k"][..., shared, :, :] += np.einsum("...ts,...tk->...sk", ds, q[..., head, :, :])
        dheads["v"][..., shared, :, :] += np.einsum("...ts,...tk->...sk", weights, g)
    dx, grads = np.zeros_like(x), {}
    for name, dhead in dheads.items():
        dhead = dhead if name == "v" else turn_pairs(dhead, -cache["angles"])
        dx += np.einsum("...htk,dhk->...td", dhead, cache["W"][name])
        one = np.einsum("...td,...htk->...dhk", x, dhead)
        grads["W_" + name] = one.reshape(-1, *one.shape[-3:]).sum(axis=0).reshape(d, -1)
    one = np.einsum("...htk,...td->...hkd", cache["mixed"], dout)
    grads["W_o"] = one.reshape(-1, *one.shape[-3:]).sum(axis=0).reshape(-1, d)
    return dx, grads
