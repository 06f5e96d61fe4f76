"""Right answers that look different: every one of them must pass every claim."""

from itertools import accumulate

import numpy as np

from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def root(x, eps):
    return np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)


# pre_norm_update


def pre_by_library(x, sublayer, weight, eps=1e-5):
    normed, _ = rmsnorm_forward(x, weight, eps)
    return x + sublayer(normed)


def pre_by_hand(x, sublayer, weight, eps=1e-5):
    h = x / root(x, eps) * weight
    return sublayer(h) + x


def pre_on_a_copy(x, sublayer, weight, eps=1e-5):
    out = x.copy()
    out += sublayer(rmsnorm_forward(x, weight, eps)[0])
    return out


def pre_by_einsum(x, sublayer, weight, eps=1e-5):
    squares = np.einsum("...d,...d->...", x, x) / x.shape[-1]
    return np.add(x, sublayer(np.einsum("...d,...,d->...d", x, (squares + eps) ** -0.5, weight)))


def pre_by_length(x, sublayer, weight, eps=1e-5):
    d = x.shape[-1]
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    read = x * (d**0.5) * weight / np.sqrt(length**2 + d * eps)
    written = np.asarray(sublayer(read))
    return np.sum([x, written], axis=0)


def pre_row_by_row(x, sublayer, weight, eps=1e-5):
    read = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        read[index] = rmsnorm_forward(x[index], weight, eps)[0]
    written = sublayer(read)
    print("the sublayer wrote", written.shape)
    return x + written


def pre_by_diagonal(x, sublayer, weight, eps=1e-5):
    return x - -sublayer((x / root(x, eps)) @ np.diag(weight))


# post_norm_update


def post_by_library(x, sublayer, weight, eps=1e-5):
    return rmsnorm_forward(x + sublayer(x), weight, eps)[0]


def post_by_hand(x, sublayer, weight, eps=1e-5):
    total = x + sublayer(x)
    return weight * total / root(total, eps)


def post_on_a_copy(x, sublayer, weight, eps=1e-5):
    out = x.copy()
    out += sublayer(x)
    out /= root(out, eps)
    out *= weight
    return out


def post_by_einsum(x, sublayer, weight, eps=1e-5):
    total = np.add(sublayer(x), x)
    squares = np.einsum("...d,...d->...", total, total) / x.shape[-1]
    return np.einsum("...d,...,d->...d", total, (squares + eps) ** -0.5, weight)


def post_row_by_row(x, sublayer, weight, eps=1e-5):
    written, out = sublayer(x), np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        out[index], _ = rmsnorm_forward(x[index] + written[index], weight, eps)
    return out


def post_by_length(x, sublayer, weight, eps=1e-5):
    total = sum([x, sublayer(x)])
    d = x.shape[-1]
    return (
        total * (d**0.5) / np.sqrt(np.sum(total * total, axis=-1, keepdims=True) + d * eps) * weight
    )


# pre_norm_update_backward


def back_by_library(dout, x, sublayer_backward, weight, eps=1e-5):
    _, cache = rmsnorm_forward(x, weight, eps)
    dbranch, dweight = rmsnorm_backward(sublayer_backward(dout), cache)
    return dout + dbranch, dweight


def back_by_formula(dout, x, sublayer_backward, weight, eps=1e-5):
    r = 1 / root(x, eps)
    dnormed = sublayer_backward(dout)
    dz = dnormed * weight
    dbranch = r * (dz - x * r**2 * np.mean(dz * x, axis=-1, keepdims=True))
    return dbranch + dout, (dnormed * x * r).reshape(-1, x.shape[-1]).sum(axis=0)


def back_on_a_copy(dout, x, sublayer_backward, weight, eps=1e-5):
    dx = dout.copy()
    dbranch, dweight = rmsnorm_backward(sublayer_backward(dout), rmsnorm_forward(x, weight, eps)[1])
    dx += dbranch
    return [dx, dweight]


def back_row_by_row(dout, x, sublayer_backward, weight, eps=1e-5):
    dnormed = sublayer_backward(dout)
    dx, dweight = dout.copy(), np.zeros_like(weight)
    for index in np.ndindex(x.shape[:-1]):
        _, cache = rmsnorm_forward(x[index], weight, eps)
        dbranch, share = rmsnorm_backward(dnormed[index], cache)
        dx[index] += dbranch
        dweight += share
    return dx, dweight


def back_by_jacobian(dout, x, sublayer_backward, weight, eps=1e-5):
    r = 1 / root(x, eps)[..., None]
    d = x.shape[-1]
    J = r * np.eye(d, dtype=x.dtype) - r**3 * x[..., :, None] * x[..., None, :] / d
    dnormed = sublayer_backward(dout)
    dbranch = (J @ (dnormed * weight)[..., None])[..., 0]
    dweight = np.einsum("td,td->d", *(a.reshape(-1, d) for a in (dnormed, x * r[..., 0])))
    return dout + dbranch, dweight


def back_by_einsum(dout, x, sublayer_backward, weight, eps=1e-5):
    z = x / root(x, eps)
    dnormed = sublayer_backward(dout)
    dz = np.einsum("...d,d->...d", dnormed, weight)
    along = np.einsum("...d,...d->...", dz, z)[..., None] / x.shape[-1]
    dweight = np.sum(dnormed * z, axis=tuple(range(x.ndim - 1)))
    return np.add(dout, (dz - z * along) / root(x, eps)), dweight


# stream_ledger


def ledger_by_loop(x, sublayers, weights, eps=1e-5):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        written = sublayer(rmsnorm_forward(x, weight, eps)[0])
        writes.append(written)
        x = x + written
    return x, np.stack(writes)


def ledger_in_an_array(x, sublayers, weights, eps=1e-5):
    writes = np.empty((len(sublayers), *x.shape), x.dtype)
    stream = x.copy()
    for i, sublayer in enumerate(sublayers):
        writes[i] = sublayer(stream / root(stream, eps) * weights[i])
        stream += writes[i]
    return stream, writes


def ledger_by_recursion(x, sublayers, weights, eps=1e-5):
    first, *others = sublayers
    written = first(rmsnorm_forward(x, weights[0], eps)[0])
    if not others:
        return x + written, written[None]
    out, writes = ledger_by_recursion(x + written, others, weights[1:], eps)
    return out, np.concatenate([written[None], writes])


def ledger_as_list(x, sublayers, weights, eps=1e-5):
    writes, stream = [], x
    for i in range(len(sublayers)):
        read, _ = rmsnorm_forward(stream, weights[i], eps)
        writes += [sublayers[i](read)]
        stream = np.add(stream, writes[-1])
    return [stream, np.array(writes)]


def ledger_by_accumulate(x, sublayers, weights, eps=1e-5):
    writes = []

    def update(stream, pair):
        writes.append(pair[0](rmsnorm_forward(stream, pair[1], eps)[0]))
        return stream + writes[-1]

    *_, out = accumulate(zip(sublayers, weights, strict=True), update, initial=x)
    return out, np.stack(writes)


def ledger_summed_from_the_start(x, sublayers, weights, eps=1e-5):
    writes = np.zeros((0, *x.shape), x.dtype)
    for sublayer, weight in zip(sublayers, weights, strict=True):
        written = sublayer(pre_read(x + writes.sum(axis=0), weight, eps))
        writes = np.concatenate([writes, written[None]])
    return x + writes.sum(axis=0), writes


def pre_read(stream, weight, eps):
    return stream / root(stream, eps) * weight


# logit_shares


def shares_by_formula(parts, weight, direction, eps=1e-5):
    return (parts / root(parts.sum(axis=0), eps) * weight) @ direction


def shares_by_cache(parts, weight, direction, eps=1e-5):
    _, (_, _, inv_rms, _) = rmsnorm_forward(np.sum(parts, axis=0), weight, eps)
    return np.sum(parts * inv_rms * weight * direction, axis=-1)


def shares_by_einsum(parts, weight, direction, eps=1e-5):
    r = 1 / root(np.add.reduce(parts), eps)[..., 0]
    return np.einsum("n...d,...,d,d->n...", parts, r, weight, direction)


def shares_in_a_loop(parts, weight, direction, eps=1e-5):
    stream = sum(parts[i] for i in range(len(parts)))
    r = 1 / root(stream, eps)
    return [np.dot(part * r * weight, direction) for part in parts]


def shares_divided_last(parts, weight, direction, eps=1e-5):
    return np.dot(parts, weight * direction) / root(parts.sum(axis=0), eps)[..., 0]


def shares_by_what_is_lost(parts, weight, direction, eps=1e-5):
    """With the scale fixed the map is linear, so a part's share is what goes with it."""
    stream = parts.sum(axis=0)
    r = 1 / root(stream, eps)
    whole = (stream * r * weight) @ direction
    return np.stack([whole - ((stream - part) * r * weight) @ direction for part in parts])


# gradient_by_depth


def rms(g):
    return np.sqrt(np.mean(g**2))


def depth_by_loops(x, blocks, dout, n_heads, order="pre"):
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    sizes = [rms(dout)]
    for cache in caches[::-1]:
        dout, _ = contrast_block_backward(dout, cache)
        sizes.insert(0, rms(dout))
    return np.array(sizes)


def depth_as_list(x, blocks, dout, n_heads, order="pre"):
    stack = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        stack.append(cache)
    sizes = [float(rms(dout))]
    while stack:
        dout, _ = contrast_block_backward(dout, stack.pop())
        sizes.append(float(rms(dout)))
    return sizes[::-1]


def depth_by_recursion(x, blocks, dout, n_heads, order="pre"):
    def go(x, blocks):
        if not blocks:
            return dout, [rms(dout)]
        out, cache = contrast_block_forward(x, blocks[0], n_heads, order=order)
        g, sizes = go(out, blocks[1:])
        dx, _ = contrast_block_backward(g, cache)
        return dx, [rms(dx), *sizes]

    return np.array(go(x, blocks)[1])


def depth_in_an_array(x, blocks, dout, n_heads, order="pre"):
    L = len(blocks)
    caches, sizes = [None] * L, np.zeros(L + 1)
    for i in range(L):
        x, caches[i] = contrast_block_forward(x, blocks[i], n_heads, order=order)
    sizes[L] = np.linalg.norm(dout) / dout.size**0.5
    for i in range(L - 1, -1, -1):
        dout = contrast_block_backward(dout, caches[i])[0]
        sizes[i] = np.linalg.norm(dout) / dout.size**0.5
    return sizes


def depth_with_all_gradients(x, blocks, dout, n_heads, order="pre"):
    caches = []
    for block in blocks:
        out, cache = contrast_block_forward(x, block, n_heads, order=order)
        x = out
        caches = [cache, *caches]
    gradients = list(
        accumulate(caches, lambda g, c: contrast_block_backward(g, c)[0], initial=dout)
    )
    return np.sqrt(np.mean(np.square(gradients), axis=tuple(range(1, x.ndim + 1))))[::-1]


def depth_by_mean_and_spread(x, blocks, dout, n_heads, order="pre"):
    print("blocks:", len(blocks))
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, 10_000.0, 1e-5, None, order)
        caches.append(cache)
    found = {len(blocks): dout}
    for i in reversed(range(len(blocks))):
        found[i], _ = contrast_block_backward(found[i + 1], caches[i])
    return [np.sqrt(np.var(found[i]) + np.mean(found[i]) ** 2) for i in range(len(blocks) + 1)]


RIGHT = {
    "pre_norm_update": [
        pre_by_library, pre_by_hand, pre_on_a_copy, pre_by_einsum, pre_by_length, pre_row_by_row,
        pre_by_diagonal,
    ],
    "post_norm_update": [
        post_by_library, post_by_hand, post_on_a_copy, post_by_einsum, post_row_by_row,
        post_by_length,
    ],
    "pre_norm_update_backward": [
        back_by_library, back_by_formula, back_on_a_copy, back_row_by_row, back_by_jacobian,
        back_by_einsum,
    ],
    "stream_ledger": [
        ledger_by_loop, ledger_in_an_array, ledger_by_recursion, ledger_as_list,
        ledger_by_accumulate, ledger_summed_from_the_start,
    ],
    "logit_shares": [
        shares_by_formula, shares_by_cache, shares_by_einsum, shares_in_a_loop,
        shares_divided_last, shares_by_what_is_lost,
    ],
    "gradient_by_depth": [
        depth_by_loops, depth_as_list, depth_by_recursion, depth_in_an_array,
        depth_with_all_gradients, depth_by_mean_and_spread,
    ],
}  # fmt: skip
