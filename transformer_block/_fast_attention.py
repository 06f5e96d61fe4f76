"""Causal attention of the fast block: queries in blocks, a turn as one complex product."""

import math

import numpy as np

from transformer_block._memory import in_two, rows_of
from transformer_block._require import require_shape
from transformer_block.heads import repeat_heads, repeat_heads_backward
from transformer_block.rope import rope_angles

QUERIES = 64  # queries in a block: fewer skip more of the triangle, but in smaller products


def make_turn(T, K, rope_base, positions, dtype):
    """Make the cache of `rope_forward` for these positions."""
    positions = np.arange(T) if positions is None else np.asarray(positions)
    require_shape("positions", positions, (T,))
    angles = rope_angles(positions, K, rope_base)  # (T, K/2)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype), False


def _turn_in_place(heads, cos, sin):
    """Multiply each pair (a, b), read as a + bi, by cos + i sin; heads are (..., T, H, K)."""
    factors = np.empty((len(cos), 1, cos.shape[1]), np.result_type(cos, 1j))
    factors.real[:, 0], factors.imag[:, 0] = cos, sin
    pairs = heads.view(factors.dtype)  # (..., T, H, K/2)
    pairs *= factors


def _blocks(T):
    """Yield the rows of each block of queries, and how many keys its last query may see."""
    for start in range(0, T, QUERIES):
        stop = min(start + QUERIES, T)
        yield slice(start, stop), stop


def attention_forward(x, params, turn, q, k, v, weights, mixed, out):
    """Fill all arrays from q to out; return the cache of `causal_self_attention_forward`."""
    H = q.shape[-2]
    for name, heads in (("W_q", q), ("W_k", k), ("W_v", v)):
        np.matmul(rows_of(x), params[name], out=heads.reshape(-1, params[name].shape[1]))
    _turn_in_place(q, *turn[:2])
    _turn_in_place(k, *turn[:2])
    q, k, v = (heads.swapaxes(-3, -2) for heads in (q, k, v))  # (..., H, T, K), views
    _attend(q, repeat_heads(k, H), repeat_heads(v, H), weights, mixed.swapaxes(-3, -2))
    merged = mixed.reshape(*x.shape[:-1], -1)  # (..., T, H·K)
    np.matmul(rows_of(merged), params["W_o"], out=rows_of(out))
    return x, params, turn, (q, k, v, weights), merged


def _attend(q, keys, values, weights, mixed):
    H, T, K = q.shape[-3:]
    for rows, seen in _blocks(T):
        some_keys = keys[..., :seen, :].swapaxes(-1, -2)
        np.matmul(q[..., rows, :], some_keys, out=weights[..., rows, :seen])

    def softmax(part):
        for rows, seen in _blocks(T):
            block = weights[..., part, rows, :seen]
            block *= 1 / math.sqrt(K)
            future = ~np.tri(seen - rows.start, dtype=bool)
            np.copyto(block[..., rows.start :], -np.inf, where=future)
            block -= block.max(axis=-1, keepdims=True)
            np.exp(block, out=block)
            block /= block.sum(axis=-1, keepdims=True)
            weights[..., part, rows, seen:] = 0

    in_two(softmax, H, weights.size)
    for rows, seen in _blocks(T):
        np.matmul(weights[..., rows, :seen], values[..., :seen, :], out=mixed[..., rows, :])


def attention_backward(dout, cache, grads, dmixed, dq, dk, dv, dscores, spare, dx):
    """Fill dx and the gradients of the four matrices; all arrays between are scratch."""
    x, params, (cos, sin, _), attention, merged = cache
    np.matmul(rows_of(merged).T, rows_of(dout), out=grads["W_o"])
    np.matmul(rows_of(dout), params["W_o"].T, out=dmixed.reshape(-1, merged.shape[-1]))
    mean = np.vecdot(dmixed, merged.reshape(dmixed.shape))  # Σ w dw = dmixed · Σ w v, (..., T, H)
    views = [array.swapaxes(-3, -2) for array in (dmixed, dq, dk, dv)]
    _attend_backward(*views, mean.swapaxes(-1, -2)[..., None], *attention, dscores)
    scale = 1 / math.sqrt(dq.shape[-1])  # of the scores, which dq and dk owe to them
    _turn_in_place(dq, cos * scale, -sin * scale)
    _turn_in_place(dk, cos * scale, -sin * scale)
    for name, heads in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
        flat = heads.reshape(-1, params[name].shape[1])
        np.matmul(rows_of(x).T, flat, out=grads[name])
        np.matmul(flat, params[name].T, out=rows_of(dx if name == "W_q" else spare))
        if name != "W_q":
            dx += spare


def _attend_backward(dmixed, dq, dk, dv, mean, q, k, v, weights, dscores):
    H, T, _ = q.shape[-3:]
    H_kv = k.shape[-3]
    keys, values = repeat_heads(k, H), repeat_heads(v, H)
    for rows, seen in _blocks(T):
        some_values = values[..., :seen, :].swapaxes(-1, -2)
        np.matmul(dmixed[..., rows, :], some_values, out=dscores[..., rows, :seen])

    def softmax_backward(part):
        for rows, seen in _blocks(T):
            block = dscores[..., part, rows, :seen]
            block -= mean[..., part, rows, :]
            block *= weights[..., part, rows, :seen]

    in_two(softmax_backward, H, weights.size)
    for rows, seen in _blocks(T):
        np.matmul(dscores[..., rows, :seen], keys[..., :seen, :], out=dq[..., rows, :])
    # A block of keys is seen by the queries of its own block and by all later ones.
    for rows, _ in _blocks(T):
        later = slice(rows.start, T)
        for gradient, outer, by in ((dk, dscores, q), (dv, weights, dmixed)):
            each = outer[..., later, rows].swapaxes(-1, -2) @ by[..., later, :]
            gradient[..., rows, :] = repeat_heads_backward(each, H_kv)
