# %% causal_mask
def causal_mask(T, S):
    return np.arange(S) <= np.arange(S - T, S)[:, None]


# %% softmax
def softmax(scores):
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


# %% after softmax
print(softmax(np.log([1.0, 2.0, 3.0, 4.0])))


# %% rope_angles
def rope_angles(positions, K, rope_base=10_000.0):
    return np.outer(positions, rope_base ** (-np.arange(0, K, 2) / K))


# %% turn_pairs
def turn_pairs(x, angles):
    out = np.empty_like(x)
    cos, sin = np.cos(angles), np.sin(angles)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


# %% causal_attention_forward
def causal_attention_forward(q, k, v):
    H, T, K = q.shape[-3:]
    k, v = (np.repeat(heads, H // heads.shape[-3], axis=-3) for heads in (k, v))
    scores = q @ k.swapaxes(-1, -2) / K**0.5
    weights = softmax(np.where(causal_mask(T, k.shape[-2]), scores, -np.inf))
    return weights @ v, (q, k, v, weights)


# %% causal_self_attention_forward
def split(rows, K):
    return rows.reshape(*rows.shape[:-1], -1, K).swapaxes(-2, -3)


def merge(heads):
    rows = heads.swapaxes(-2, -3)
    return rows.reshape(*rows.shape[:-2], -1)


def causal_self_attention_forward(x, params, n_heads, rope_base=10_000.0, positions=None):
    K = params["W_q"].shape[1] // n_heads
    positions = np.arange(x.shape[-2]) if positions is None else positions
    angles = rope_angles(positions, K, rope_base)
    q = turn_pairs(split(x @ params["W_q"], K), angles)
    k = turn_pairs(split(x @ params["W_k"], K), angles)
    mixed, attention = causal_attention_forward(q, k, split(x @ params["W_v"], K))
    merged = merge(mixed)
    return merged @ params["W_o"], (x, params, angles, attention, merged)


# %% softmax_backward
def softmax_backward(dweights, weights):
    return weights * (dweights - np.sum(dweights * weights, axis=-1, keepdims=True))


# %% causal_self_attention_backward
def causal_self_attention_backward(dout, cache):
    x, params, angles, (q, keys, values, weights), merged = cache
    K = q.shape[-1]
    H_kv = params["W_k"].shape[1] // K

    def summed(dheads):
        *leading, H, S, K = dheads.shape
        return dheads.reshape(*leading, H_kv, H // H_kv, S, K).sum(axis=-3)

    def over_tokens(rows, drows):
        return rows.reshape(-1, rows.shape[-1]).T @ drows.reshape(-1, drows.shape[-1])

    dmixed = split(dout @ params["W_o"].T, K)
    dv = summed(weights.swapaxes(-1, -2) @ dmixed)
    ds = softmax_backward(dmixed @ values.swapaxes(-1, -2), weights) / K**0.5
    dq = merge(turn_pairs(ds @ keys, -angles))
    dk = merge(turn_pairs(summed(ds.swapaxes(-1, -2) @ q), -angles))
    dv = merge(dv)
    dx = dq @ params["W_q"].T + dk @ params["W_k"].T + dv @ params["W_v"].T
    return dx, {
        "W_q": over_tokens(x, dq),
        "W_k": over_tokens(x, dk),
        "W_v": over_tokens(x, dv),
        "W_o": over_tokens(merged, dout),
    }


# %% [markdown] attention_in_words
# A score adds up K products, so its variance grows with K and its root brings it back to one. With
# large scores the softmax picks a single key and its gradient dies. If all positions move by 1000,
# queries and keys are turned further, but by the same angle, and their products stay. A fill of
# −10,000 is fine for ordinary scores. If all visible scores are at −50,000, the hidden ones win.
