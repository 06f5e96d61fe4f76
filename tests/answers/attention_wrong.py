"""Wrong answers to the attention sheet as learners write them, with the mistake to be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import numpy as np


def soft(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def in_place_softmax(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)


def softmax_over_axis_0(scores):
    weights = np.exp(scores - scores.max(axis=0))
    return weights / weights.sum(axis=0)


def softmax_of_one_sum(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum()


def clipped_softmax(scores):
    e = np.exp(np.clip(scores, -500, 500))
    return e / e.sum(-1, keepdims=True)


def softmax_in_float64(scores):
    return soft(scores.astype(np.float64))


def angles_in_float32(positions, K, rope_base=10_000.0):
    frequencies = np.float32(rope_base) ** (-np.arange(0, K, 2, dtype=np.float32) / K)
    return np.outer(positions.astype(np.float32), frequencies)


def turn_like_hugging_face(x, angles):
    half = x.shape[-1] // 2
    cos, sin = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


def turn_in_place(x, angles):
    a, b = x[..., ::2].copy(), x[..., 1::2].copy()
    x[..., ::2] = a * np.cos(angles) - b * np.sin(angles)
    x[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return x


def turn_with_views(x, angles):
    """The two slices are views: the second line reads what the first has written."""
    out = x.copy()
    a, b = out[..., ::2], out[..., 1::2]
    out[..., ::2] = a * np.cos(angles) - b * np.sin(angles)
    out[..., 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return out


def turn_and_join(x, angles):
    a, b = x[..., ::2], x[..., 1::2]
    c, s = np.cos(angles), np.sin(angles)
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def turn_mixed(x, angles):
    """Angles as cat(freqs, freqs), partners as neighbours."""
    wide = np.concatenate([angles, angles], axis=-1)
    partner = np.empty_like(x)
    partner[..., ::2], partner[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return x * np.cos(wide) + partner * np.sin(wide)


def turn_backwards(x, angles):
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(-1j * angles)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


def shared(heads, H):
    return np.repeat(heads, H // heads.shape[-3], axis=-3)


def mixing(weigh, share=shared, root=None):
    """Write a mixing that is right but for one thing."""

    def causal_attention_forward(q, k, v):
        H, T, K = q.shape[-3:]
        k, v = share(k, H), share(v, H)
        S = k.shape[-2]
        scores = q @ k.swapaxes(-1, -2) / (root or K**0.5)
        return weigh(scores, np.tri(T, S, S - T) == 0) @ v, (q, k, v)

    return causal_attention_forward


def filled(fill):
    def weigh(scores, future):
        scores = scores.copy()
        scores[..., future] = fill
        return soft(scores)

    return weigh


def right(scores, future):
    return filled(-np.inf)(scores, future)


def no_maximum(scores, future):
    e = np.exp(np.where(future, -np.inf, scores))
    return e / e.sum(-1, keepdims=True)


def global_maximum(scores, future):
    scores = np.where(future, -np.inf, scores)
    e = np.exp(scores - scores.max())
    return e / e.sum(-1, keepdims=True)


def after(scores, future):
    weights = soft(scores)
    weights[..., future] = 0
    return weights


def subtracted(scores, future):
    return soft(scores - 1e9 * future)


def with_epsilon(scores, future):
    e = np.exp(np.where(future, -np.inf, scores - scores.max(-1, keepdims=True)))
    return e / (e.sum(-1, keepdims=True) + 1e-6)


def mix_top_left(q, k, v):
    H, T, K = q.shape[-3:]
    scores = q @ shared(k, H).swapaxes(-1, -2) / K**0.5
    return soft(np.where(np.tri(T, k.shape[-2]) > 0, scores, -np.inf)) @ shared(v, H), None


def mix_leaks_float64(q, k, v):
    out, cache = mixing(right)(q, k, v)
    return out / np.sqrt(np.ones(1)), cache


def mix_scales_in_place(q, k, v):
    K = q.shape[-1]
    q /= K**0.5
    return mixing(right, root=1.0)(q, k, v)


def cut(rows, H):
    return rows.reshape(*rows.shape[:-1], H, -1).swapaxes(-2, -3)


def cut_alone(rows, H):
    *leading, T, width = rows.shape
    return rows.reshape(*leading, H, T, width // H)


def join(heads):
    return heads.swapaxes(-2, -3).reshape(*heads.shape[:-3], heads.shape[-2], -1)


def join_alone(heads):
    *leading, H, T, K = heads.shape
    return heads.reshape(*leading, T, H * K)


def turn(x, angles):
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)


def layer(
    cut=cut, join=join, turn_q=turn, turn_k=turn, turn_v=None, mix=None, use_base=True,
    use_positions=True, output=True,
):  # fmt: skip
    """Write a layer that is right but for one thing."""

    def causal_self_attention_forward(x, params, n_heads, rope_base=10_000.0, positions=None):
        K = params["W_q"].shape[1] // n_heads
        H_kv = params["W_k"].shape[1] // K
        if positions is None or not use_positions:
            positions = np.arange(x.shape[-2])
        base = rope_base if use_base else 10_000.0
        angles = np.outer(positions, base ** (-np.arange(0, K, 2) / K))
        q = turn_q(cut(x @ params["W_q"], n_heads), angles)
        k = turn_k(cut(x @ params["W_k"], H_kv), angles)
        v = cut(x @ params["W_v"], H_kv)
        if turn_v:
            v = turn_v(v, angles)
        rows = join((mix or mixing(right))(q, k, v)[0])
        return rows @ params["W_o"] if output else rows, None

    return causal_self_attention_forward


def still(rows, angles):
    return rows


def turned_whole(x, params, n_heads, rope_base=10_000.0, positions=None):
    """RoPE before the split: frequencies over the whole row."""

    def whole(rows):
        width = rows.shape[-1]
        T = np.arange(x.shape[-2]) if positions is None else positions
        return turn(rows, np.outer(T, rope_base ** (-np.arange(0, width, 2) / width)))

    K = params["W_q"].shape[1] // n_heads
    H_kv = params["W_k"].shape[1] // K
    q, k = cut(whole(x @ params["W_q"]), n_heads), cut(whole(x @ params["W_k"]), H_kv)
    return join(mixing(right)(q, k, cut(x @ params["W_v"], H_kv))[0]) @ params["W_o"], None


def x_split_before_projection(x, params, n_heads, rope_base=10_000.0, positions=None):
    return cut(x, n_heads), None


def layer_in_place(x, params, n_heads, rope_base=10_000.0, positions=None):
    out, cache = layer()(x, params, n_heads, rope_base, positions)
    x += out
    return out, cache


def tile(heads, H):
    return np.tile(heads, (H // heads.shape[-3], 1, 1))


def by_jacobian_of_first_row(dweights, weights):
    p = weights.reshape(-1, weights.shape[-1])[0]
    return dweights @ (np.diag(p) - np.outer(p, p))


def softmax_back_by_differences(dweights, weights):
    scores, h = np.log(np.maximum(weights, 1e-300)), 1e-5
    out = np.zeros(weights.shape)
    for s in range(weights.shape[-1]):
        step = h * (np.arange(weights.shape[-1]) == s)
        out[..., s] = np.sum(dweights * (soft(scores + step) - soft(scores - step)), -1) / (2 * h)
    return out


def tokens(x, dout):
    return x.reshape(-1, x.shape[-1]).T @ dout.reshape(-1, dout.shape[-1])


def jacobian_product(g, p):
    return p * (g - (g * p).sum(-1, keepdims=True))


def gathered(dheads, like):
    *leading, H, S, K = dheads.shape
    H_kv = like.shape[-3]
    return dheads.reshape(*leading, H_kv, H // H_kv, S, K).sum(-3)


def back(
    softmax_back=jacobian_product, root=True, back_q=turn, back_k=turn, gather=gathered,
    transpose_k=True, transpose_v=True, add=lambda a, b, c: a + b + c, share=tokens, cut=cut,
    W_o_from="merged", through_W_o=True,
):  # fmt: skip
    """Write a backward pass that is right but for one thing."""

    def causal_self_attention_backward(dout, cache):
        x, params, (cos, sin, _), (q, k, v, p), merged = cache
        H, K = q.shape[-3], q.shape[-1]
        angles = -np.arctan2(sin, cos)
        g = cut(dout @ params["W_o"].T if through_W_o else dout, H)
        ds = softmax_back(g @ shared(v, H).swapaxes(-1, -2), p) / (K**0.5 if root else 1)
        dv = gather((p.swapaxes(-1, -2) if transpose_v else p) @ g, v)
        dk = gather((ds.swapaxes(-1, -2) if transpose_k else ds) @ q, k)
        dq = join(back_q(ds @ shared(k, H), angles))
        dk, dv = join(back_k(dk, angles)), join(dv)
        grads = {"W_q": share(x, dq), "W_k": share(x, dk), "W_v": share(x, dv)}
        grads["W_o"] = share(merged if W_o_from == "merged" else x, dout)
        parts = (dq @ params["W_q"].T, dk @ params["W_k"].T, dv @ params["W_v"].T)
        return add(*parts), grads

    return causal_self_attention_backward


def again(rows, angles):
    return turn(rows, -angles)


def first_of_group(dheads, like):
    *leading, H, S, K = dheads.shape
    return dheads.reshape(*leading, like.shape[-3], -1, S, K)[..., 0, :, :]


def mean_of_group(dheads, like):
    *leading, H, S, K = dheads.shape
    return dheads.reshape(*leading, like.shape[-3], -1, S, K).mean(-3)


def without_dict(dout, cache):
    dx, grads = back()(dout, cache)
    return dx, list(grads.values())


def one_gradient_missing(dout, cache):
    dx, grads = back()(dout, cache)
    return dx, {name: grads[name] for name in ("W_q", "W_k", "W_v")}


def in_place_back(dout, cache):
    result = back()(dout, cache)
    dout *= 0.5
    return result


def cache_spoiled(dout, cache):
    result = back()(dout, cache)
    cache[3][3][...] = 0
    return result


def soft_of_absolute_axis(scores):
    axis = min(1, scores.ndim - 1)
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def mask_a_step_too_far(T, S=None):
    S = T if S is None else S
    return np.arange(S)[None, :] < np.arange(T)[:, None] + S - T + (2 if S > T else 1)


def mask_against_the_offset(T, S=None):
    S = T if S is None else S
    return np.tril(np.ones((T, S), dtype=bool), k=T - S)


def softmax_with_a_floor(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


def grouped_attention(q, k, v, key_of, value_of, inner=1.0, outer=1.0):
    scores = np.einsum("...htk,...hsk->...hts", q, k[..., key_of, :, :]) * inner
    T, S = scores.shape[-2:]
    weights = soft(np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf))
    return np.einsum("...hts,...hsk->...htk", weights, v[..., value_of, :, :]) * outer, None


def values_in_turn(q, k, v):
    H, H_kv = q.shape[-3], k.shape[-3]
    near, in_turn = np.arange(H) // (H // H_kv), np.arange(H) % H_kv
    return grouped_attention(q, k, v, near, in_turn, inner=q.shape[-1] ** -0.5)


def scaled_behind_the_softmax(q, k, v):
    H, H_kv = q.shape[-3], k.shape[-3]
    near = np.arange(H) // (H // H_kv)
    return grouped_attention(q, k, v, near, near, outer=q.shape[-1] ** -0.5)


def softmax_second_term_bare(dweights, weights):
    return weights * dweights - (weights * dweights).sum(axis=-1, keepdims=True)


WRONG = {
    "causal_mask": [
        (lambda T, S: np.tri(T, S, S - T - 1), "diagonal_hidden"),
        (lambda T, S: np.tri(T, S, S - T + 1), "one_ahead"),
        (lambda T, S: np.triu(np.ones((T, S)), S - T + 1), "forbidden_marked"),
        (lambda T, S: np.triu(np.ones((T, S)), S - T), "upside_down"),
        (lambda T, S: np.tril(np.ones((T, S))), "top_left"),
        (lambda T, S: np.tri(S), "keys_square"),
        (lambda T, S: np.tri(S, T, dtype=bool).T, None),
        (lambda T, S: np.ones((T, S), dtype=bool), "all_seen"),
        (lambda T, S: np.where(np.tri(T, S, S - T) > 0, 0, -np.inf), "additive"),
        (lambda T, S: np.tri(4, dtype=bool), "shape"),
        (lambda T, S: None, None),
        (mask_a_step_too_far, "last_sees_too_much"),
        (mask_against_the_offset, "offset_against"),
    ],
    "softmax": [
        (lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True), "no_maximum"),
        (lambda z: np.exp(z - z.max()) / np.exp(z - z.max()).sum(-1, keepdims=True), "one_maximum"),
        (lambda z: soft(z, axis=0), None),
        (lambda z: soft(z, axis=-2) if z.ndim > 1 else soft(z), "column_axis"),
        (lambda z: np.exp(z - z.max(-1, keepdims=True)), "not_divided"),
        (lambda z: z - np.log(np.exp(z).sum(-1, keepdims=True)), "logarithm"),
        (lambda z: soft(z.ravel()).reshape(z.shape), "whole_array"),
        (lambda z: soft(z) / soft(z).sum(), None),
        (lambda z: np.round(soft(z), 6), None),
        (in_place_softmax, "writes_into_arguments"),
        (clipped_softmax, None),
        (softmax_over_axis_0, "first_axis"),
        (softmax_of_one_sum, "one_sum"),
        (softmax_in_float64, "dtype_leaks"),
        (soft_of_absolute_axis, "second_axis"),
        (softmax_with_a_floor, "nearly_right"),
    ],
    "rope_angles": [
        (lambda p, K, b: np.outer(p, b ** (-np.arange(K // 2) / K)), "half_exponent"),
        (lambda p, K, b: np.outer(p, b ** (-np.arange(0, K, 2) / (K // 2))), "double_exponent"),
        (lambda p, K, b: np.outer(p, b ** (np.arange(0, K, 2) / K)), "sign_missing"),
        (lambda p, K, b: np.outer(p, b ** (-np.arange(2, K + 1, 2) / K)), "from_one"),
        (lambda p, K, b: np.outer(p, b ** -np.linspace(0, 1, K // 2)), "ends_at_base"),
        (lambda p, K, b: np.outer(p, 10_000 ** (-np.arange(0, K, 2) / K)), "base_fixed"),
        (
            lambda p, K, b: np.outer(np.arange(len(p)), b ** (-np.arange(0, K, 2) / K)),
            "positions_ignored",
        ),
        (lambda p, K, b: np.outer(p + 1, b ** (-np.arange(0, K, 2) / K)), "positions_from_one"),
        (lambda p, K, b: np.outer(p + p[0], b ** (-np.arange(0, K, 2) / K)), "offset_twice"),
        (
            lambda p, K, b: np.repeat(np.outer(p, b ** (-np.arange(0, K, 2) / K)), 2, axis=1),
            "twice_in_a_row",
        ),
        (lambda p, K, b: np.outer(b ** (-np.arange(0, K, 2) / K), p), "transposed"),
        (angles_in_float32, None),
    ],
    "turn_pairs": [
        (turn_like_hugging_face, "half_split"),
        (turn_and_join, "written_as_halves"),
        (turn_mixed, "angles_as_halves"),
        (turn_backwards, "turned_back"),
        (turn_with_views, "new_for_old"),
        (turn_in_place, "writes_into_arguments"),
        (lambda x, angles: turn(x, angles).astype(float) * np.ones(1), "dtype_leaks"),
        (lambda x, angles: x * np.repeat(np.cos(angles), 2, -1), "cosine_alone"),
        (lambda x, angles: x, None),
    ],
    "causal_attention_forward": [
        (mixing(right, root=1.0), "not_scaled"),
        (lambda q, k, v: mixing(right, root=q.shape[-1])(q, k, v), "scaled_by_K"),
        (
            lambda q, k, v: mixing(right, root=(q.shape[-1] * q.shape[-3]) ** 0.5)(q, k, v),
            "scaled_by_width",
        ),
        (mixing(filled(-20)), "fill_20"),
        (mixing(filled(-50)), None),
        (mixing(filled(-100)), "fill_100"),
        (mixing(filled(-1e4)), "fill_finite"),
        (mixing(filled(-1e9)), "fill_finite"),
        (mixing(filled(0)), "zero_fill"),
        (mixing(no_maximum), "no_maximum"),
        (mixing(global_maximum), "one_maximum"),
        (mixing(after), "masked_too_late"),
        (mixing(subtracted), "fill_added"),
        (mixing(with_epsilon), None),
        (mixing(lambda scores, future: soft(scores)), "no_mask"),
        (mixing(lambda scores, future: soft(right(scores, future))), None),
        (mixing(lambda s, future: soft(np.where(future, -np.inf, s), axis=-2)), "column_axis"),
        (mixing(right, share=tile), "tiled"),
        (mix_top_left, "top_left"),
        (mix_leaks_float64, "dtype_leaks"),
        (mix_scales_in_place, "writes_into_arguments"),
        (lambda q, k, v: mixing(right)(q, k, v)[0], None),
        (lambda q, k, v: (v, None), None),
        (values_in_turn, "values_tiled"),
        (scaled_behind_the_softmax, "scaled_too_late"),
    ],
    "causal_self_attention_forward": [
        (layer(cut=cut_alone), "split_by_reshape"),
        (layer(join=join_alone), "merge_by_reshape"),
        (layer(cut=cut_alone, join=join_alone), "both_by_reshape"),
        (layer(turn_q=still, turn_k=still), "rope_missing"),
        (layer(turn_k=still), "rope_on_queries_only"),
        (layer(turn_v=turn), "rope_on_values"),
        (layer(turn_q=turn_like_hugging_face, turn_k=turn_like_hugging_face), "rope_half_split"),
        (layer(turn_q=again, turn_k=again), "rope_mirrored"),
        (layer(turn_q=turn_mixed, turn_k=turn_mixed), None),
        (turned_whole, "rope_before_split"),
        (layer(use_base=False), "rope_base_ignored"),
        (layer(use_positions=False), "positions_ignored"),
        (layer(output=False), "output_matrix_missing"),
        (layer(mix=mixing(right, root=1.0)), "not_scaled"),
        (layer(mix=mixing(right, share=tile)), "tiled"),
        (layer(mix=mixing(after)), "masked_too_late"),
        (layer(mix=mixing(filled(-1e9))), "fill_finite"),
        (layer(mix=mixing(lambda s, future: soft(s))), "no_mask"),
        (x_split_before_projection, None),
        (layer_in_place, "writes_into_arguments"),
        (lambda x, params, n_heads, rope_base: (x, None), None),
    ],
    "softmax_backward": [
        (lambda g, p: g * p * (1 - p), "diagonal_alone"),
        (lambda g, p: g * p, "no_mean"),
        (lambda g, p: p * (g - (g * p).sum()), "one_mean_for_all"),
        (lambda g, p: p * (g - (g * p).sum(-2, keepdims=True)), None),
        (lambda g, p: g - (g * p).sum(-1, keepdims=True), "weight_missing"),
        (lambda g, p: p - g, "cross_entropy"),
        (by_jacobian_of_first_row, None),
        (softmax_back_by_differences, None),
        (lambda g, p: (p * (g - (g * p).sum(-1, keepdims=True))).astype(np.float32), None),
        (softmax_second_term_bare, "weight_of_second_term"),
    ],
    "causal_self_attention_backward": [
        (back(root=False), "scale_forgotten"),
        (back(softmax_back=lambda g, p: g * p * (1 - p)), "softmax_diagonal_alone"),
        (back(softmax_back=lambda g, p: g * p), "softmax_no_mean"),
        (back(back_q=still, back_k=still), "not_turned_back"),
        (back(back_q=again, back_k=again), "turned_again"),
        (back(back_k=still), "only_queries_turned_back"),
        (back(transpose_k=False), "dk_not_transposed"),
        (back(transpose_v=False), "dv_not_transposed"),
        (back(add=lambda a, b, c: c), "only_value_path"),
        (back(add=lambda a, b, c: a), "only_query_path"),
        (back(add=lambda a, b, c: a + b), "value_path_missing"),
        (back(share=lambda x, g: tokens(x, g) / x[..., 0].size), "shares_averaged"),
        (back(share=lambda x, g: x.swapaxes(-1, -2) @ g), "batch_not_summed"),
        (back(cut=cut_alone), "split_by_reshape"),
        (back(gather=first_of_group), "first_of_group"),
        (back(gather=mean_of_group), "group_averaged"),
        (back(W_o_from="x"), "W_o_from_x"),
        (back(through_W_o=False), None),
        (without_dict, None),
        (one_gradient_missing, None),
        (in_place_back, "writes_into_arguments"),
        (cache_spoiled, "writes_into_arguments"),
        (lambda dout, cache: (dout, cache[1]), None),
    ],
}
