"""Causal attention of the fast block: queries in blocks, a turn as one complex product."""

import math
from functools import lru_cache

import numpy as np

from transformer_block._memory import rows_of
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


def _factors(cos, sin):
    """Write turns as complex numbers cos + i sin, the same for all heads: (T, 1, K/2)."""
    factors = np.empty((len(cos), 1, cos.shape[1]), np.result_type(cos, 1j))
    factors.real[:, 0], factors.imag[:, 0] = cos, sin
    return factors


def _turn_in_place(heads, factors):
    """Multiply each pair (a, b), read as a + bi, by its factor; heads are (..., T, H, K)."""
    pairs = heads.view(factors.dtype)  # (..., T, H, K/2)
    pairs *= factors


@lru_cache(4)
def _future(n):
    """Mark the keys of a block of n queries that come after each of them."""
    return ~np.tri(n, dtype=bool)


def _blocks(T):
    """Yield the rows of each block of queries, and how many keys its last query may see."""
    for start in range(0, T, QUERIES):
        stop = min(start + QUERIES, T)
        yield slice(start, stop), stop


def attention_forward(x, params, turn, q, k, v, weights, mixed, out):
    """Fill all arrays from q to out; heads and mixed are (..., T, H, K)."""
    for name, heads in (("W_q", q), ("W_k", k), ("W_v", v)):
        np.matmul(rows_of(x), params[name], out=heads.reshape(-1, params[name].shape[1]))
    factors = _factors(*turn[:2])
    _turn_in_place(q, factors)
    _turn_in_place(k, factors)
    _attend(*(array.swapaxes(-3, -2) for array in (q, k, v, mixed)), weights)
    np.matmul(mixed.reshape(-1, len(params["W_o"])), params["W_o"], out=rows_of(out))


def _attend(q, k, v, mixed, weights):
    """Fill weights and mixed; all others are (..., H, T, K)."""
    H, T, K = q.shape[-3:]
    keys, values = repeat_heads(k, H), repeat_heads(v, H)
    for rows, seen in _blocks(T):
        block = weights[..., rows, :seen]
        np.matmul(q[..., rows, :], keys[..., :seen, :].swapaxes(-1, -2), out=block)
        _softmax_in_place(block, 1 / math.sqrt(K))
        weights[..., rows, seen:] = 0
        np.matmul(block, values[..., :seen, :], out=mixed[..., rows, :])


def _softmax_in_place(block, scale):
    """Scale, mask and normalise the scores of some queries, the last of which sees all keys."""
    n, seen = block.shape[-2:]
    block *= scale
    np.copyto(block[..., seen - n :], -np.inf, where=_future(n))
    block -= np.maximum.reduce(block, axis=-1, keepdims=True)
    np.exp(block, out=block)
    block /= np.add.reduce(block, axis=-1, keepdims=True)


def attention_backward(dout, params, turn, q, k, v, weights, merged, dmixed, dq, dk, dv, dscores,
                       spare, dx):  # fmt: skip
    """Fill all arrays from dmixed to dx, for the sequences of a cache."""
    cos, sin, _ = turn
    np.matmul(rows_of(dout), params["W_o"].T, out=dmixed.reshape(-1, merged.shape[-1]))
    mean = np.vecdot(dmixed, merged.reshape(dmixed.shape))  # Σ w dw = dmixed · Σ w v, (..., T, H)
    views = [array.swapaxes(-3, -2) for array in (dmixed, dq, dk, dv)]
    _attend_backward(*views, mean.swapaxes(-1, -2)[..., None], q, k, v, weights, dscores)
    scale = 1 / math.sqrt(dq.shape[-1])  # of the scores, which dq and dk owe to them
    factors = _factors(cos * scale, -sin * scale)
    _turn_in_place(dq, factors)
    _turn_in_place(dk, factors)
    for name, heads in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
        flat = heads.reshape(-1, params[name].shape[1])
        np.matmul(flat, params[name].T, out=rows_of(dx if name == "W_q" else spare))
        if name != "W_q":
            dx += spare


def _attend_backward(dmixed, dq, dk, dv, mean, q, k, v, weights, dscores):
    H, T, _ = q.shape[-3:]
    H_kv = k.shape[-3]
    keys, values = repeat_heads(k, H), repeat_heads(v, H)
    for rows, seen in _blocks(T):
        block = dscores[..., rows, :seen]
        np.matmul(dmixed[..., rows, :], values[..., :seen, :].swapaxes(-1, -2), out=block)
        block -= mean[..., rows, :]
        block *= weights[..., rows, :seen]
        np.matmul(block, keys[..., :seen, :], out=dq[..., rows, :])
    # A block of keys is seen by the queries of its own block and by all later ones.
    for rows, _ in _blocks(T):
        later = slice(rows.start, T)
        for gradient, outer, by in ((dk, dscores, q), (dv, weights, dmixed)):
            each = outer[..., later, rows].swapaxes(-1, -2) @ by[..., later, :]
            gradient[..., rows, :] = repeat_heads_backward(each, H_kv)
