"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import numpy as np

from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def norm(x, weight, eps=1e-5):
    return rmsnorm_forward(x, weight, eps)[0]


# pre_norm_update


def the_same_name_again(x, sublayer, weight, eps=1e-5):
    x = norm(x, weight, eps)
    return x + sublayer(x)


def in_place(x, sublayer, weight, eps=1e-5):
    x += sublayer(norm(x, weight, eps))
    return x


def into_the_write(x, sublayer, weight, eps=1e-5):
    written = sublayer(norm(x, weight, eps))
    written += x
    return written


def norm_in_place(x, sublayer, weight, eps=1e-5):
    kept = x.copy()
    x /= np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return kept + sublayer(x * weight)


def norm_last(x, sublayer, weight, eps=1e-5):
    return norm(x + sublayer(x), weight, eps)


def norm_on_the_write(x, sublayer, weight, eps=1e-5):
    return x + norm(sublayer(x), weight, eps)


def not_normed(x, sublayer, weight, eps=1e-5):
    return x + sublayer(x)


def no_skip(x, sublayer, weight, eps=1e-5):
    return sublayer(norm(x, weight, eps))


def computed_and_dropped(x, sublayer, weight, eps=1e-5):
    written = sublayer(norm(x, weight, eps))
    x + written
    return x


def layer_norm(x, sublayer, weight, eps=1e-5):
    return x + sublayer(layernorm_forward(x, weight, 0 * weight, eps)[0])


def default_eps(x, sublayer, weight, eps=1e-5):
    return x + sublayer(norm(x, weight))


def without_gain(x, sublayer, weight, eps=1e-5):
    return x + sublayer(x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps))


def looked_at_first(x, sublayer, weight, eps=1e-5):
    normed = norm(x, weight, eps)
    assert sublayer(normed).shape == x.shape
    return x + sublayer(normed)


def one_token_at_a_time(x, sublayer, weight, eps=1e-5):
    out = np.empty_like(x)
    for t in range(x.shape[-2]):
        token = x[..., t : t + 1, :]
        out[..., t : t + 1, :] = token + sublayer(norm(token, weight, eps))
    return out


def wide(x, sublayer, weight, eps=1e-5):
    return x.astype(np.float64) + sublayer(norm(x, weight, eps))


def eps_outside(x, sublayer, weight, eps=1e-5):
    root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) + eps
    return x + sublayer(x / root * weight)


def concatenated(x, sublayer, weight, eps=1e-5):
    return np.concatenate([x, sublayer(norm(x, weight, eps))], axis=-1)


# post_norm_update


def norm_first(x, sublayer, weight, eps=1e-5):
    return x + sublayer(norm(x, weight, eps))


def norm_at_both_ends(x, sublayer, weight, eps=1e-5):
    return norm(x + sublayer(norm(x, weight, eps)), weight, eps)


def skip_after_the_norm(x, sublayer, weight, eps=1e-5):
    return x + norm(sublayer(x), weight, eps)


def two_norms(x, sublayer, weight, eps=1e-5):
    return norm(x, weight, eps) + norm(sublayer(x), weight, eps)


def post_without_skip(x, sublayer, weight, eps=1e-5):
    return norm(sublayer(x), weight, eps)


def post_in_place(x, sublayer, weight, eps=1e-5):
    x += sublayer(x)
    return norm(x, weight, eps)


def post_not_normed(x, sublayer, weight, eps=1e-5):
    return x + sublayer(x)


# pre_norm_update_backward


def assigned_not_added(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dx = dout
    dx, dweight = rmsnorm_backward(sublayer_backward(dx), cache)
    return dx, dweight


def straight_through(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    return dout, rmsnorm_backward(sublayer_backward(dout), cache)[1]


def norm_left_out(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    back = sublayer_backward(dout)
    return dout + back, rmsnorm_backward(back, cache)[1]


def all_through_the_norm(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    back = sublayer_backward(dout)
    dx, _ = rmsnorm_backward(dout + back, cache)
    return dx, rmsnorm_backward(back, cache)[1]


def as_for_post_norm(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dsum, dweight = rmsnorm_backward(dout, cache)
    return dsum + sublayer_backward(dsum), dweight


def into_dout(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dbranch, dweight = rmsnorm_backward(sublayer_backward(dout), cache)
    dout += dbranch
    return dout, dweight


def gain_of_everything(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    back = sublayer_backward(dout)
    return dout + rmsnorm_backward(back, cache)[0], rmsnorm_backward(dout, cache)[1]


def asked_for_each(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dweight = rmsnorm_backward(sublayer_backward(dout), cache)[1]
    return dout + rmsnorm_backward(sublayer_backward(dout), cache)[0], dweight


def no_rank_one(dout, x, sublayer_backward, weight, eps=1e-5):
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    back = sublayer_backward(dout)
    return dout + back * weight * r, np.sum(back * x * r, axis=tuple(range(x.ndim - 1)))


# stream_ledger


def ledger(x, sublayers, weights, eps, keep):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        written = sublayer(norm(x, weight, eps))
        after = x + written
        writes.append(keep(x, written, after))
        x = after
    return x, np.stack(writes)


def states(x, sublayers, weights, eps=1e-5):
    return ledger(x, sublayers, weights, eps, lambda before, written, after: after)


def found_there(x, sublayers, weights, eps=1e-5):
    return ledger(x, sublayers, weights, eps, lambda before, written, after: before)


def differences(x, sublayers, weights, eps=1e-5):
    return ledger(x, sublayers, weights, eps, lambda before, written, after: after - before)


def updates_in_place(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        writes.append(sublayer(norm(x, weight, eps)))
        x += writes[-1]
    return x, np.stack(writes)


def side_by_side(x, sublayers, weights, eps=1e-5):
    writes = np.stack([f(norm(x, w, eps)) for f, w in zip(sublayers, weights, strict=True)])
    return x + writes.sum(axis=0), writes


def normed_chain(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        x = norm(x, weight, eps)
        writes.append(sublayer(x))
        x = x + writes[-1]
    return x, np.stack(writes)


def only_writes(x, sublayers, weights, eps=1e-5):
    writes = ledger(x, sublayers, weights, eps, lambda b, written, a: written)[1]
    return writes.sum(axis=0), writes


def normed_at_the_end(x, sublayers, weights, eps=1e-5):
    out, writes = ledger(x, sublayers, weights, eps, lambda b, written, a: written)
    return norm(out, np.ones(x.shape[-1])), writes


def first_weight(x, sublayers, weights, eps=1e-5):
    weights = [weights[0]] * len(sublayers)
    return ledger(x, sublayers, weights, eps, lambda b, written, a: written)


def asked_again_for_the_ledger(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        out = x + sublayer(norm(x, weight, eps))
        writes.append(sublayer(norm(x, weight, eps)))
        x = out
    return x, np.stack(writes)


def one_list_many_times(x, sublayers, weights, eps=1e-5):
    written, writes = np.empty_like(x), []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        written[...] = sublayer(norm(x, weight, eps))
        writes.append(written)  # the same array each time
        x = x + written
    return x, np.stack(writes)


# logit_shares


def each_by_itself(parts, weight, direction, eps=1e-5):
    return np.stack([norm(part, weight, eps) @ direction for part in parts])


def lens(parts, weight, direction, eps=1e-5):
    return norm(np.cumsum(parts, axis=0), weight, eps) @ direction


def scale_so_far(parts, weight, direction, eps=1e-5):
    streams = np.cumsum(parts, axis=0)
    root = np.sqrt(np.mean(streams**2, axis=-1, keepdims=True) + eps)
    return (parts / root * weight) @ direction


def raw(parts, weight, direction, eps=1e-5):
    return parts @ (weight * direction)


def no_final_gain(parts, weight, direction, eps=1e-5):
    root = np.sqrt(np.mean(parts.sum(axis=0) ** 2, axis=-1, keepdims=True) + eps)
    return (parts / root) @ direction


def logit(parts, weight, direction, eps=1e-5):
    return norm(parts.sum(axis=0), weight, eps) @ direction


# gradient_by_depth


def rms(g):
    return np.sqrt(np.mean(g * g))


def down(x, blocks, dout, n_heads, order, measure=rms):
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    sizes = [measure(dout)]
    for cache in reversed(caches):
        dout, _ = contrast_block_backward(dout, cache)
        sizes.append(measure(dout))
    return np.array(sizes)


def from_the_top(x, blocks, dout, n_heads, order="pre"):
    return down(x, blocks, dout, n_heads, order)


def order_forgotten(x, blocks, dout, n_heads, order="pre"):
    return down(x, blocks, dout, n_heads, "pre")[::-1]


def lengths(x, blocks, dout, n_heads, order="pre"):
    return down(x, blocks, dout, n_heads, order, np.linalg.norm)[::-1]


def variances(x, blocks, dout, n_heads, order="pre"):
    return down(x, blocks, dout, n_heads, order, lambda g: np.mean(g**2))[::-1]


def without_the_end(x, blocks, dout, n_heads, order="pre"):
    return down(x, blocks, dout, n_heads, order)[:0:-1]


def dout_each_time(x, blocks, dout, n_heads, order="pre"):
    sizes = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        sizes.append(rms(contrast_block_backward(dout, cache)[0]))
    return np.array([*sizes, rms(dout)])


def caches_in_the_order_of_forward(x, blocks, dout, n_heads, order="pre"):
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    sizes = [rms(dout)]
    for cache in caches:
        dout, _ = contrast_block_backward(dout, cache)
        sizes.append(rms(dout))
    return np.array(sizes)[::-1]


def all_blocks_read_x(x, blocks, dout, n_heads, order="pre"):
    caches = [contrast_block_forward(x, block, n_heads, order=order)[1] for block in blocks]
    sizes = [rms(dout)]
    for cache in reversed(caches):
        dout, _ = contrast_block_backward(dout, cache)
        sizes.append(rms(dout))
    return np.array(sizes)[::-1]


def never_added(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        normed, _ = rmsnorm_forward(x, weight, eps)
        writes.append(sublayer(normed))
    return x, np.stack(writes)


def ledger_of_one_array(x, sublayers, weights, eps=1e-5):
    x, kept = x.copy(), []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        kept.append(x)
        x += sublayer(x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * weight)
    return x, np.stack(kept)


def depth_with_the_stream_added(x, blocks, dout, n_heads, order="pre"):
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    gradients = [dout]
    for cache in caches[::-1]:
        gradients.insert(0, gradients[0] + contrast_block_backward(gradients[0], cache)[0])
    return np.array([np.sqrt(np.mean(g**2)) for g in gradients])


WRONG = {
    "pre_norm_update": [
        (the_same_name_again, "normed_stream_kept"), (in_place, "writes_into_arguments"),
        (into_the_write, "writes_into_arguments"), (norm_in_place, "writes_into_arguments"),
        (norm_last, "post_norm"), (norm_on_the_write, "write_normed"), (not_normed, "no_norm"),
        (no_skip, "no_residual"), (computed_and_dropped, "write_dropped"),
        (layer_norm, "layernorm"), (default_eps, "eps_fixed"), (without_gain, "gain_missing"),
        (looked_at_first, "asked_twice"), (one_token_at_a_time, "tokens_apart"),
        (wide, "dtype_leaks"), (eps_outside, "eps_outside"), (concatenated, "shape"),
    ],
    "post_norm_update": [
        (norm_first, "pre_norm"), (norm_at_both_ends, "read_normed"),
        (skip_after_the_norm, "write_normed"), (two_norms, "terms_normed_apart"),
        (post_without_skip, "no_residual"), (post_in_place, "writes_into_arguments"),
        (post_not_normed, "no_norm"),
    ],
    "pre_norm_update_backward": [
        (assigned_not_added, "identity_lost"), (straight_through, "branch_lost"),
        (norm_left_out, "norm_skipped"), (all_through_the_norm, "identity_through_norm"),
        (as_for_post_norm, "as_for_post_norm"), (into_dout, "writes_into_arguments"),
        (gain_of_everything, "gain_from_dout"), (asked_for_each, "asked_again_for_dx"),
        (no_rank_one, "correction_missing"),
    ],
    "stream_ledger": [
        (states, "states_for_writes"), (found_there, "states_before"),
        (differences, "as_differences"), (updates_in_place, "writes_into_arguments"),
        (side_by_side, "stream_not_moved"), (normed_chain, "normed_stream_kept"),
        (only_writes, "embedding_missing"), (normed_at_the_end, "final_norm"),
        (first_weight, "first_gain_for_all"), (one_list_many_times, "last_write_everywhere"),
        (asked_again_for_the_ledger, "kept_and_added_differ"), (never_added, "start_for_end"),
        (ledger_of_one_array, "end_everywhere"),
    ],
    "logit_shares": [
        (each_by_itself, "each_its_own_rms"), (lens, "lens"), (scale_so_far, "rms_so_far"),
        (raw, "no_norm"), (no_final_gain, "gain_missing"), (logit, "total"),
    ],
    "gradient_by_depth": [
        (from_the_top, "last_first"), (order_forgotten, "always_pre"), (lengths, "length"),
        (variances, "mean_square"), (without_the_end, "dout_missing"),
        (dout_each_time, "not_chained"), (all_blocks_read_x, "stream_not_moved"),
        (caches_in_the_order_of_forward, "caches_forward"),
        (depth_with_the_stream_added, "identity_again"),
    ],
}  # fmt: skip
