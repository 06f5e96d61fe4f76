"""Right answers to the attention sheet that look different: each must pass every claim."""

from types import SimpleNamespace

import numpy as np

# causal_mask


def mask_by_tri(T, S):
    return np.tri(T, S, S - T, dtype=bool)


def mask_by_comparison(T, S):
    return np.arange(S)[None, :] <= np.arange(S - T, S)[:, None]


def mask_by_tril(T, S):
    return np.tril(np.ones((T, S)), k=S - T)


def mask_by_triu(T, S):
    return np.logical_not(np.triu(np.ones((T, S), dtype=int), k=S - T + 1))


def mask_by_loops(T, S):
    return [[s <= S - T + t for s in range(S)] for t in range(T)]


def mask_by_last_rows(T, S):
    return np.tri(S, dtype=bool)[-T:]


# softmax


def soft_by_maximum(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def soft_by_log_sum_exp(scores):
    top = np.max(scores, axis=-1)[..., None]
    return np.exp(scores - (top + np.log(np.sum(np.exp(scores - top), axis=-1, keepdims=True))))


def soft_by_rows(scores):
    rows = scores.reshape(-1, scores.shape[-1])
    out = np.empty_like(rows)
    for t, row in enumerate(rows):
        e = np.exp(row - max(row))
        out[t] = e / sum(e)
    return out.reshape(scores.shape)


def soft_by_logaddexp(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


def soft_by_inverse(scores):
    """Multiply each exponential with the inverse of the sum."""
    top = scores.max(-1, keepdims=True)
    shifted = scores - top
    e = np.einsum("...i->...i", np.exp(shifted))
    return np.multiply(e, 1 / np.einsum("...i->...", e)[..., np.newaxis]).astype(scores.dtype)


def soft_in_float64(scores):
    print("called with", scores.shape)
    np.log(np.zeros(1))  # NumPy warns
    z = np.array(scores, dtype=np.float64)
    z -= np.amax(z, axis=-1, keepdims=True)
    np.exp(z, out=z)
    z /= z @ np.ones((z.shape[-1], 1))
    return z.astype(scores.dtype)


# rope_angles


def angles_by_outer(positions, K, rope_base=10_000.0):
    return np.outer(positions, rope_base ** (-np.arange(0, K, 2) / K))


def angles_by_halves(positions, K, rope_base=10_000.0):
    return positions[:, None] / rope_base ** (np.arange(K // 2) / (K // 2))


def angles_by_loops(positions, K, rope_base=10_000.0):
    return [[p * rope_base ** (-2 * i / K) for i in range(K // 2)] for p in positions]


def angles_by_logarithm(positions, K, rope_base=10_000.0):
    return positions[:, None] * np.exp(-np.arange(K // 2) * 2 * np.log(rope_base) / K)


def angles_by_ratio(positions, K, rope_base=10_000.0):
    step = rope_base ** (-2 / K)
    return np.stack([positions * step**i for i in range(K // 2)], axis=-1)


def angles_by_einsum(positions, K, rope_base=10_000.0):
    frequencies = np.logspace(0, -1 + 2 / K, K // 2, base=rope_base)
    return np.einsum("t,i->ti", positions.astype(float), frequencies)


# turn_pairs


def turn_by_strides(x, angles):
    out = np.empty_like(x)
    c, s = np.cos(angles), np.sin(angles)
    out[..., ::2] = x[..., ::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., ::2] * s + x[..., 1::2] * c
    return out


def turn_by_complex(x, angles):
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)


def turn_by_matrices(x, angles):
    c, s = np.cos(angles), np.sin(angles)
    turns = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)  # (T, K/2, 2, 2)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    out = np.einsum("tiab,...tib->...tia", turns, pairs)
    return out.reshape(x.shape).astype(x.dtype)


def turn_by_partner(x, angles):
    a, b = x[..., 0::2], x[..., 1::2]
    partner = np.stack([-b, a], axis=-1).reshape(x.shape)
    wide = np.repeat(angles, 2, axis=-1)
    return (x * np.cos(wide) + partner * np.sin(wide)).astype(x.dtype)


def turn_by_loops(x, angles):
    out = np.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[-1] // 2):
        c, s = np.cos(angles[:, i]), np.sin(angles[:, i])
        out[..., 2 * i] = c * x[..., 2 * i] - s * x[..., 2 * i + 1]
        out[..., 2 * i + 1] = s * x[..., 2 * i] + c * x[..., 2 * i + 1]
    return out


def turn_by_permutation(x, angles):
    """Sort into halves, turn there, sort back."""
    K = x.shape[-1]
    order = [*range(0, K, 2), *range(1, K, 2)]
    halves = x[..., order]
    wide = np.concatenate([angles, angles], axis=-1)
    rotated = np.concatenate([-halves[..., K // 2 :], halves[..., : K // 2]], axis=-1)
    return (halves * np.cos(wide) + rotated * np.sin(wide))[..., np.argsort(order)].astype(x.dtype)


# causal_attention_forward


def shared(heads, H):
    return np.repeat(heads, H // heads.shape[-3], axis=-3)


def mix_by_infinity(q, k, v):
    H, T, K = q.shape[-3:]
    k, v = shared(k, H), shared(v, H)
    scores = q @ k.swapaxes(-1, -2) / K**0.5
    scores[..., ~mask_by_tri(T, k.shape[-2])] = -np.inf
    weights = soft_by_maximum(scores)
    return weights @ v, (q, k, v, weights)


def mix_by_renormalising(q, k, v):
    """Softmax of everything that is not hidden, by masking the exponentials and dividing again."""
    H, T, K = q.shape[-3:]
    k, v = shared(k, H), shared(v, H)
    mask = mask_by_comparison(T, k.shape[-2])
    scores = (q / np.sqrt(K).astype(q.dtype)) @ k.swapaxes(-1, -2)
    top = np.max(np.where(mask, scores, -np.inf), axis=-1, keepdims=True)
    e = np.exp(np.minimum(scores - top, 0)) * mask
    return (e / e.sum(-1, keepdims=True)) @ v, {"q": q}


def mix_by_einsum(q, k, v):
    H, T, K = q.shape[-3:]
    H_kv, S = k.shape[-3:-1]
    grouped = q.reshape(*q.shape[:-3], H_kv, H // H_kv, T, K)
    scores = np.einsum("...gntk,...gsk->...gnts", grouped, k) * (1 / K**0.5)
    scores = np.where(mask_by_tril(T, S) > 0, scores, -np.inf)
    out = np.einsum("...gnts,...gsk->...gntk", soft_by_log_sum_exp(scores), v)
    return out.reshape(q.shape), SimpleNamespace(scores=scores)


def mix_by_loops(q, k, v):
    H, T, K = q.shape[-3:]
    H_kv, S = k.shape[-3:-1]
    out = np.zeros_like(q)
    for head in range(H):
        for t in range(T):
            seen = S - T + t + 1
            keys = k[..., head * H_kv // H, :seen, :]
            scores = np.sum(q[..., head, t, None, :] * keys, axis=-1) / K**0.5
            weights = soft_by_maximum(scores)
            values = v[..., head * H_kv // H, :seen, :]
            out[..., head, t, :] = np.sum(weights[..., None] * values, axis=-2)
    return out, None


def mix_one_query_at_a_time(q, k, v):
    H, T, K = q.shape[-3:]
    k, v = shared(k, H), shared(v, H)
    S = k.shape[-2]
    rows = []
    for t in range(T):
        upto = S - T + t + 1
        scores = q[..., t : t + 1, :] @ np.swapaxes(k[..., :upto, :], -1, -2) / K**0.5
        rows.append(soft_by_logaddexp(scores) @ v[..., :upto, :])
    return [np.concatenate(rows, axis=-2), rows]


def mix_by_additive_mask(q, k, v):
    H, T, K = q.shape[-3:]
    k, v = shared(k, H), shared(v, H)
    added = np.zeros((T, k.shape[-2]), dtype=q.dtype)
    added[np.triu_indices(T, 1 + k.shape[-2] - T, k.shape[-2])] = -np.inf
    scores = np.einsum("...tk,...sk->...ts", q * q.dtype.type(K**-0.5), k) + added
    weights = soft_in_float64(scores)
    return np.matmul(weights, v), (q, k, v, weights)


# causal_self_attention_forward: the cache is read by the backward passes further down


def cut(rows, H):
    return rows.reshape(*rows.shape[:-1], H, -1).swapaxes(-2, -3)


def join(heads):
    return heads.swapaxes(-2, -3).reshape(*heads.shape[:-3], heads.shape[-2], -1)


def forward_with(mix, turn, angle):
    """Put a forward pass together from one way to mix, one to turn, one to make angles."""

    def forward(x, params, n_heads, rope_base=10_000.0, positions=None):
        K = params["W_q"].shape[1] // n_heads
        H_kv = params["W_k"].shape[1] // K
        angles = angle(np.arange(x.shape[-2]) if positions is None else positions, K, rope_base)
        q = turn(cut(x @ params["W_q"], n_heads), np.asarray(angles))
        k = turn(cut(x @ params["W_k"], H_kv), np.asarray(angles))
        out, _ = mix(q, k, cut(x @ params["W_v"], H_kv))
        return join(out) @ params["W_o"], (x, params)

    return forward


def layer_by_pieces(x, params, n_heads, rope_base=10_000.0, positions=None):
    return forward_with(mix_by_infinity, turn_by_strides, angles_by_outer)(
        x, params, n_heads, rope_base, positions
    )


def layer_by_complex(x, params, n_heads, rope_base=10_000.0, positions=None):
    forward = forward_with(mix_by_renormalising, turn_by_complex, angles_by_logarithm)
    return forward(x, params, n_heads, rope_base, positions)


def layer_head_by_head(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Sum what each head writes by itself, with its own rows of W_o."""
    K = params["W_q"].shape[1] // n_heads
    group = n_heads * K // params["W_k"].shape[1]
    positions = range(x.shape[-2]) if positions is None else positions
    angles = np.array(angles_by_loops(positions, K, rope_base))
    out = 0
    for h in range(n_heads):
        mine, theirs = slice(h * K, (h + 1) * K), slice(h // group * K, (h // group + 1) * K)
        q = turn_by_matrices(x @ params["W_q"][:, mine], angles)
        k = turn_by_matrices(x @ params["W_k"][:, theirs], angles)
        v = x @ params["W_v"][:, theirs]
        mixed, _ = mix_by_infinity(q[..., None, :, :], k[..., None, :, :], v[..., None, :, :])
        out = out + mixed[..., 0, :, :] @ params["W_o"][mine]
    return out, None


def layer_by_einsum(x, params, n_heads, rope_base=10_000.0, positions=None):
    d, width = params["W_q"].shape
    K = width // n_heads
    T = x.shape[-2]
    angles = angles_by_ratio(np.arange(T) if positions is None else positions, K, rope_base)
    heads = {
        name: np.einsum("...td,dhk->...htk", x, params[name].reshape(d, -1, K))
        for name in ("W_q", "W_k", "W_v")
    }
    q, k = (turn_by_partner(heads[name], angles) for name in ("W_q", "W_k"))
    mixed, _ = mix_by_einsum(q, k, heads["W_v"])
    return np.einsum("...htk,hkd->...td", mixed, params["W_o"].reshape(n_heads, K, d)), {}


def layer_one_token_at_a_time(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Generate: keys and values of earlier tokens are kept, each new token is one query."""
    T = x.shape[-2]
    K = params["W_q"].shape[1] // n_heads
    positions = np.arange(T) if positions is None else positions
    keys, values, rows = [], [], []
    for t in range(T):
        row = x[..., t : t + 1, :]
        angles = angles_by_halves(positions[t : t + 1], K, rope_base)
        H_kv = params["W_k"].shape[1] // K
        q = turn_by_loops(cut(row @ params["W_q"], n_heads), angles)
        keys.append(turn_by_loops(cut(row @ params["W_k"], H_kv), angles))
        values.append(cut(row @ params["W_v"], H_kv))
        mixed, _ = mix_by_additive_mask(q, np.concatenate(keys, -2), np.concatenate(values, -2))
        rows.append(join(mixed) @ params["W_o"])
    return np.concatenate(rows, axis=-2), ()


def layer_in_other_layout(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Sort the columns of W_q and W_k into the half-split layout and turn halves."""
    d, K = len(params["W_q"]), params["W_q"].shape[1] // n_heads
    order = np.r_[0:K:2, 1:K:2]
    T, H_kv = x.shape[-2], params["W_k"].shape[1] // K
    angles = angles_by_outer(np.arange(T) if positions is None else positions, K, rope_base)
    c, s = (np.tile(f(angles), 2).astype(x.dtype) for f in (np.cos, np.sin))

    def made(name, H):
        rows = cut(x @ params[name].reshape(d, -1, K)[..., order].reshape(d, -1), H)
        turned = np.concatenate([-rows[..., K // 2 :], rows[..., : K // 2]], axis=-1)
        return rows * c + turned * s

    out, cache = mix_by_infinity(
        made("W_q", n_heads), made("W_k", H_kv), cut(x @ params["W_v"], H_kv)
    )
    return join(out) @ params["W_o"], cache


# softmax_backward


def back_by_formula(dweights, weights):
    return weights * (dweights - np.sum(weights * dweights, axis=-1, keepdims=True))


def back_by_jacobian(dweights, weights):
    S = weights.shape[-1]
    rows = zip(dweights.reshape(-1, S), weights.reshape(-1, S), strict=True)
    return np.array([(np.diag(p) - np.outer(p, p)) @ g for g, p in rows]).reshape(weights.shape)


def back_by_products(dweights, weights):
    products = dweights * weights
    return products - weights * products.sum(-1, keepdims=True)


def back_by_einsum(dweights, weights):
    dots = np.einsum("...s,...s->...", dweights, weights)
    return weights * dweights - np.einsum("...s,...->...s", weights, dots)


def back_by_loops(dweights, weights):
    out = np.zeros(weights.shape)
    for index in np.ndindex(weights.shape[:-1]):
        p, g = weights[index], dweights[index]
        for s in range(len(p)):
            out[index][s] = sum(p[s] * ((s == r) - p[r]) * g[r] for r in range(len(p)))
    return out


def back_by_differences_of_gradient(dweights, weights):
    """p_s Σ_r p_r (g_s − g_r): the same, since the weights add to one."""
    differences = dweights[..., :, None] - dweights[..., None, :]
    return weights * np.sum(weights[..., None, :] * differences, axis=-1)


# causal_self_attention_backward, with the cache of the library


def tokens(x, dout):
    return x.reshape(-1, x.shape[-1]).T @ dout.reshape(-1, dout.shape[-1])


def gather(dheads, like):
    shape = like.shape
    group = dheads.shape[-3] // shape[-3]
    return dheads.reshape(*shape[:-2], group, *shape[-2:]).sum(-3)


def turned_back(rows, cos, sin):
    out = np.empty_like(rows)
    out[..., ::2] = rows[..., ::2] * cos + rows[..., 1::2] * sin
    out[..., 1::2] = rows[..., 1::2] * cos - rows[..., ::2] * sin
    return out


def finish(dout, cache, dq, dk, dv):
    """Go from the heads' gradients to those of the matrices and of x."""
    x, params, (cos, sin, _), _, merged = cache
    rows = {
        "W_q": join(turned_back(dq, cos, sin)),
        "W_k": join(turned_back(dk, cos, sin)),
        "W_v": join(dv),
    }
    dx = np.zeros_like(x)
    grads = {"W_o": tokens(merged, dout)}
    for name, drow in rows.items():
        dx += drow @ params[name].T
        grads[name] = tokens(x, drow)
    return dx, grads


def layer_back(dout, cache):
    _, params, _, (q, k, v, weights), _ = cache
    H, K = q.shape[-3], q.shape[-1]
    dmixed = cut(dout @ params["W_o"].T, H)
    dscores = back_by_formula(dmixed @ shared(v, H).swapaxes(-1, -2), weights) / K**0.5
    dk, dv = dscores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dmixed
    return finish(dout, cache, dscores @ shared(k, H), gather(dk, k), gather(dv, v))


def layer_back_by_einsum(dout, cache):
    _, params, _, (q, k, v, weights), _ = cache
    *leading, H, T, K = q.shape
    H_kv = k.shape[-3]
    groups = (*leading, H_kv, H // H_kv)
    dmixed = cut(dout @ params["W_o"].T, H).reshape(*groups, T, K)
    p, q5 = weights.reshape(*groups, T, T), q.reshape(*groups, T, K)
    dp = np.einsum("...gntk,...gsk->...gnts", dmixed, v)
    ds = back_by_products(dp, p) * K**-0.5
    dq = np.einsum("...gnts,...gsk->...gntk", ds, k).reshape(q.shape)
    dk = np.einsum("...gnts,...gntk->...gsk", ds, q5)
    return finish(dout, cache, dq, dk, np.einsum("...gnts,...gntk->...gsk", p, dmixed))


def layer_back_head_by_head(dout, cache):
    _, params, _, (q, k, v, weights), _ = cache
    H, K = q.shape[-3], q.shape[-1]
    group = H // k.shape[-3]
    dq, dk, dv = (np.zeros_like(array) for array in (q, k, v))
    for h in range(H):
        mine = h // group
        p = weights[..., h, :, :]
        dmixed = dout @ params["W_o"][h * K : (h + 1) * K].T
        ds = back_by_einsum(dmixed @ v[..., mine, :, :].swapaxes(-1, -2), p) / K**0.5
        dq[..., h, :, :] = ds @ k[..., mine, :, :]
        dk[..., mine, :, :] += ds.swapaxes(-1, -2) @ q[..., h, :, :]
        dv[..., mine, :, :] += p.swapaxes(-1, -2) @ dmixed
    return finish(dout, cache, dq, dk, dv)


def layer_back_query_by_query(dout, cache):
    """Add up the share of one query after the other, over the keys that it saw."""
    _, params, _, (q, k, v, weights), _ = cache
    H, T, K = q.shape[-3:]
    keys, values = shared(k, H), shared(v, H)
    dmixed = cut(dout @ params["W_o"].T, H)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(keys), np.zeros_like(values)
    for t in range(T):
        p, g = weights[..., t, : t + 1], dmixed[..., t, :]
        dp = (values[..., : t + 1, :] @ g[..., None])[..., 0]
        ds = back_by_formula(dp, p) / K**0.5
        dq[..., t, :] = (ds[..., None, :] @ keys[..., : t + 1, :])[..., 0, :]
        dk[..., : t + 1, :] += ds[..., None] * q[..., t, None, :]
        dv[..., : t + 1, :] += p[..., None] * g[..., None, :]
    return finish(dout, cache, dq, gather(dk, k), gather(dv, v))


def layer_back_with_complex_turn(dout, cache):
    x, params, (cos, sin, _), (q, k, v, weights), merged = cache
    H, K = q.shape[-3], q.shape[-1]

    def turn_back(rows):
        z = (rows[..., ::2] + 1j * rows[..., 1::2]) * (cos - 1j * sin)
        return np.stack([z.real, z.imag], -1).reshape(rows.shape).astype(x.dtype)

    dmixed = cut(dout @ params["W_o"].T, H)
    ds = back_by_products(dmixed @ shared(v, H).swapaxes(-1, -2), weights) / K**0.5
    dq = join(turn_back(ds @ shared(k, H)))
    dk = join(turn_back(gather(ds.swapaxes(-1, -2) @ q, k)))
    dv = join(gather(weights.swapaxes(-1, -2) @ dmixed, v))
    grads = {name: tokens(x, g) for name, g in (("W_q", dq), ("W_k", dk), ("W_v", dv))}
    dx = dq @ params["W_q"].T + dk @ params["W_k"].T + dv @ params["W_v"].T
    return [dx, {**grads, "W_o": tokens(merged, dout), "why not": "more"}]


def layer_back_by_wide_matrix(dout, cache):
    """Put the three matrices side by side: one product for dx, one for all their gradients."""
    x, params, (cos, sin, _), (q, k, v, weights), merged = cache
    H, K = q.shape[-3], q.shape[-1]
    dmixed = cut(dout @ params["W_o"].T, H)
    dp = np.einsum("...tk,...sk->...ts", dmixed, shared(v, H))
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    dq = ds @ shared(k, H) / K**0.5
    dk = gather(np.einsum("...ts,...tk->...sk", ds, q / x.dtype.type(K**0.5)), k)
    dv = gather(np.einsum("...ts,...tk->...sk", weights, dmixed), v)
    drow = np.concatenate(
        [join(turned_back(dq, cos, sin)), join(turned_back(dk, cos, sin)), join(dv)], axis=-1
    )
    names = ("W_q", "W_k", "W_v")
    wide = np.concatenate([params[name] for name in names], axis=1)
    ends = np.cumsum([params[name].shape[1] for name in names])[:-1]
    grads = dict(zip(names, np.split(tokens(x, drow), ends, axis=1), strict=True))
    return drow @ wide.T, grads | {"W_o": tokens(merged, dout)}


RIGHT = {
    "causal_mask": [
        mask_by_tri, mask_by_comparison, mask_by_tril, mask_by_triu, mask_by_loops,
        mask_by_last_rows,
    ],
    "softmax": [
        soft_by_maximum, soft_by_log_sum_exp, soft_by_rows, soft_by_logaddexp, soft_by_inverse,
        soft_in_float64,
    ],
    "rope_angles": [
        angles_by_outer, angles_by_halves, angles_by_loops, angles_by_logarithm, angles_by_ratio,
        angles_by_einsum,
    ],
    "turn_pairs": [
        turn_by_strides, turn_by_complex, turn_by_matrices, turn_by_partner, turn_by_loops,
        turn_by_permutation,
    ],
    "causal_attention_forward": [
        mix_by_infinity, mix_by_renormalising, mix_by_einsum, mix_by_loops,
        mix_one_query_at_a_time, mix_by_additive_mask,
    ],
    "causal_self_attention_forward": [
        layer_by_pieces, layer_by_complex, layer_head_by_head, layer_by_einsum,
        layer_one_token_at_a_time, layer_in_other_layout,
    ],
    "softmax_backward": [
        back_by_formula, back_by_jacobian, back_by_products, back_by_einsum, back_by_loops,
        back_by_differences_of_gradient,
    ],
    "causal_self_attention_backward": [
        layer_back, layer_back_by_einsum, layer_back_head_by_head, layer_back_query_by_query,
        layer_back_with_complex_turn, layer_back_by_wide_matrix,
    ],
}  # fmt: skip
