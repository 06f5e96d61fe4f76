# Pairs half a head apart, a fill of −10,000, tiled key heads, the softmax's diagonal alone, and
# one path into x. What does not depend on them keeps its points.


# %% causal_mask
def causal_mask(T, S):
    return np.tril(np.ones((T, S), dtype=bool))


# %% softmax
def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True)


# %% rope_angles
def rope_angles(positions, K, rope_base=10_000.0):
    return np.outer(np.arange(len(positions)), rope_base ** (-np.arange(0, K, 2) / K))


# %% turn_pairs
def turn_pairs(x, angles):
    half = x.shape[-1] // 2
    cos, sin = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    other = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return (x * cos + other * sin).astype(x.dtype)


# %% causal_attention_forward
def causal_attention_forward(q, k, v):
    H, T, K = q.shape[-3:]
    copies = [1] * (k.ndim - 3) + [H // k.shape[-3], 1, 1]
    k, v = np.tile(k, copies), np.tile(v, copies)
    scores = q @ k.swapaxes(-1, -2) / K**0.5
    scores = np.where(np.tri(T, k.shape[-2], k.shape[-2] - T) > 0, scores, -1e4)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ v, (q, k, v, weights)


# %% causal_self_attention_forward
def causal_self_attention_forward(x, params, n_heads, rope_base=10_000.0, positions=None):
    K = params["W_q"].shape[1] // n_heads
    angles = rope_angles(np.arange(x.shape[-2]), K, rope_base)

    def heads(name):
        rows = x @ params[name]
        return rows.reshape(*rows.shape[:-1], -1, K).swapaxes(-2, -3)

    q, k = turn_pairs(heads("W_q"), angles), turn_pairs(heads("W_k"), angles)
    mixed, attention = causal_attention_forward(q, k, heads("W_v"))
    merged = mixed.swapaxes(-2, -3).reshape(*x.shape[:-1], -1)
    return merged @ params["W_o"], (x, params, angles, attention, merged)


# %% softmax_backward
def softmax_backward(dweights, weights):
    return weights * (1 - weights) * dweights


# %% causal_self_attention_backward
def causal_self_attention_backward(dout, cache):
    x, params, (cos, sin, _), (q, k, v, weights), merged = cache
    H, K = q.shape[-3], q.shape[-1]
    k, v = (np.repeat(heads, H // heads.shape[-3], axis=-3) for heads in (k, v))
    H_kv = params["W_k"].shape[1] // K

    def turn_back(rows):
        a, b = rows[..., 0::2], rows[..., 1::2]
        out = np.empty_like(rows)
        out[..., 0::2], out[..., 1::2] = a * cos + b * sin, b * cos - a * sin
        return out

    def gather(dheads):
        *leading, _, S, _ = dheads.shape
        return dheads.reshape(*leading, H_kv, H // H_kv, S, K).sum(axis=-3)

    def merge(heads):
        return heads.swapaxes(-2, -3).reshape(*x.shape[:-1], -1)

    def over_tokens(rows, drows):
        return rows.reshape(-1, rows.shape[-1]).T @ drows.reshape(-1, drows.shape[-1])

    dmixed = (dout @ params["W_o"].T).reshape(*x.shape[:-1], H, K).swapaxes(-2, -3)
    dscores = softmax_backward(dmixed @ v.swapaxes(-1, -2), weights) / K**0.5
    dq = merge(turn_back(dscores @ k))
    dk = merge(turn_back(gather(dscores.swapaxes(-1, -2) @ q)))
    dv = merge(gather(weights.swapaxes(-1, -2) @ dmixed))
    grads = {"W_o": over_tokens(merged, dout)}
    for name, drows in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
        dx = drows @ params[name].T
        grads[name] = over_tokens(x, drows)
    return dx, grads
