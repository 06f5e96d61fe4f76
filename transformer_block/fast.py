"""The same block, faster: equal results and equal caches as `transformer_block.block`.

Read `block.py` first; nothing else is computed here. What the listing spends beside its matrix
products is mostly memory traffic, and that is what is saved:

- All that is cached lies in one piece of memory, and so does all that is scratch. The system
  clears each page that it hands out, and for large pieces it hands out pages of 2 MB instead of
  4 KB: with an array each, this alone cost more than all exponentials. A piece that nobody holds
  any more is used again, and is not cleared a second time.
- Arrays of our own are written in place. What is done entry by entry is done a slab of rows at a
  time, so that it stays in the processor's cache, and large arrays in two threads.
- Queries are taken a block at a time, and a block is multiplied only with the keys that its last
  query may see: most of the upper triangle is never computed.
- A pair of features is one complex number, and a turn is one complex product.
"""

import numpy as np

from transformer_block._fast_attention import attention_backward, attention_forward, make_turn
from transformer_block._memory import PIECES, carve, cut, in_two, rows_of, size_of
from transformer_block._require import (
    require_axes,
    require_heads,
    require_shape,
    require_weights,
)

SLAB = 32  # rows: a few arrays of 32 rows of a hidden layer fit a cache of half a megabyte
NAMES = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_up", "W_down", "attn_norm", "ffn_norm")


def fast_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    """Give what `transformer_block_forward` gives, in less time.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream: one row for each token.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d),
        ``W_gate`` (d, h), ``W_up`` (d, h), ``W_down`` (h, d), ``attn_norm`` (d,),
        ``ffn_norm`` (d,), in the dtype of ``x``.
    n_heads : int
        H, the number of query heads.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`.
    positions : ndarray of int, shape (T,), optional
        The place of each token; ``None`` means 0, 1, …, T - 1.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream after the block, in the dtype of ``x``.
    cache : tuple
        ``(norm1, attn_cache, residual, norm2, ffn_cache)``, each with the same contents as from
        `transformer_block_forward`: either backward pass takes either cache.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape or dtype, or the heads do not come out
        even.
    """
    H, H_kv, K, h = _require_block(x, params, n_heads)
    *leading, T, _ = x.shape
    row, wide, shared = x.shape, (*leading, T, h), (*leading, T, H_kv, K)
    shapes = (row, row, row, row, row, wide, wide, wide, (*leading, T, H, K), shared, shared)
    shapes += ((*leading, H, T, T), (*leading, T, H, K))
    pieces = carve(shapes, x.dtype)
    normalized1, normed1, residual, normalized2, normed2, gate, up, hidden, *heads = pieces
    turn = make_turn(T, K, rope_base, positions, x.dtype)
    norm1 = _rmsnorm_forward(x, params["attn_norm"], eps, normalized1, normed1)
    attn_cache = attention_forward(normed1, params, turn, *heads, residual)
    residual += x
    norm2 = _rmsnorm_forward(residual, params["ffn_norm"], eps, normalized2, normed2)
    out = np.empty(x.shape, x.dtype)
    ffn_cache = _swiglu_forward(normed2, params, gate, up, hidden, out)
    out += residual
    return out, (norm1, attn_cache, residual, norm2, ffn_cache)


def fast_block_backward(dout, cache):
    """Give what `transformer_block_backward` gives, in less time.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        From `fast_block_forward` or `transformer_block_forward`.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``.
    grads : dict
        The gradient of every weight, under the names of ``params``.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    norm1, attn_cache, residual, norm2, ffn_cache = cache
    require_shape("dout", dout, residual.shape)
    x, params, gate = ffn_cache[:3]
    dout = dout.astype(x.dtype, copy=False)
    q, k, v, weights = attn_cache[3]
    shapes = (x.shape, *(params[name].shape for name in NAMES))
    dx, *dparams = carve(shapes, x.dtype)
    grads = dict(zip(NAMES, dparams, strict=True))
    # The net is done with its scratch when attention begins: both use the same piece.
    ffn_shapes = (x.shape, x.shape, gate.shape, gate.shape)
    by_token = [heads.swapaxes(-3, -2).shape for heads in (q, q, k, v)]
    attn_shapes = (x.shape, x.shape, *by_token, weights.shape)
    scratch = PIECES.take(max(size_of(ffn_shapes), size_of(attn_shapes)), x.dtype)
    dresidual, spare, *wide = cut(scratch, ffn_shapes)
    _, _, *heads = cut(scratch, attn_shapes)
    _swiglu_backward(dout, ffn_cache, grads, *wide, spare, dx)
    _rmsnorm_backward(dx, norm2, grads["ffn_norm"], spare, dresidual)
    dresidual += dout
    attention_backward(dresidual, attn_cache, grads, *heads, spare, dx)
    _rmsnorm_backward(dx, norm1, grads["attn_norm"], spare, dx)
    dx += dresidual
    return dx, grads


def _require_block(x, params, n_heads):
    """Check everything once; return H, H_kv, K and h."""
    require_axes("x", x, "T", "d")
    d = x.shape[-1]
    require_weights(params, d, attn_norm=("d",), ffn_norm=("d",))
    sizes = require_weights(params, d, W_gate=("d", "h"), W_up=("d", "h"), W_down=("h", "d"))
    H_kv = require_heads(x, params, n_heads)
    for name in NAMES:
        if params[name].dtype != x.dtype:
            raise ValueError(
                f"{name} must have the dtype of x, {x.dtype}: got {params[name].dtype}"
            )
    return n_heads, H_kv, params["W_q"].shape[1] // n_heads, sizes["h"]


def _slabs(part):
    for start in range(part.start, part.stop, SLAB):
        yield slice(start, min(start + SLAB, part.stop))


def _rmsnorm_forward(x, weight, eps, normalized, out):
    """Fill normalized and out; return the cache of `rmsnorm_forward`."""
    mean_square = np.vecdot(x, x)[..., None] / x.shape[-1]  # (..., 1), no array of squares
    inv_rms = 1 / np.sqrt(mean_square + eps)
    np.multiply(x, inv_rms, out=normalized)
    np.multiply(normalized, weight, out=out)
    return x, weight, inv_rms, normalized


def _rmsnorm_backward(dout, cache, dweight, spare, dx):
    """Equation (22.3) by the normalised row n = x r: dx = r (z̄ - n (z̄ · n) / d); dx may be dout."""
    _, weight, inv_rms, normalized = cache
    np.multiply(dout, normalized, out=spare)
    np.sum(rows_of(spare), axis=0, out=dweight)
    along = (spare @ weight)[..., None] / len(weight)  # (..., 1)
    np.multiply(normalized, along, out=spare)
    np.multiply(dout, weight, out=dx)
    dx -= spare
    dx *= inv_rms


def _swiglu_forward(x, params, gate, up, hidden, out):
    """Fill all arrays from gate to out; return the cache of `swiglu_forward`."""
    cache = (x, params, gate, up, hidden)
    x, gate, up, hidden = rows_of(x), rows_of(gate), rows_of(up), rows_of(hidden)
    np.matmul(x, params["W_gate"], out=gate)
    np.matmul(x, params["W_up"], out=up)

    def multiply(part):
        with np.errstate(over="ignore"):
            for rows in _slabs(part):
                divisor = np.exp(-gate[rows])
                divisor += 1
                np.divide(gate[rows], divisor, out=divisor)  # SiLU as one division
                np.multiply(divisor, up[rows], out=hidden[rows])

    in_two(multiply, len(gate), gate.size)
    np.matmul(hidden, params["W_down"], out=rows_of(out))
    return cache


def _swiglu_backward(dout, cache, grads, dgate, dup, spare, dx):
    """Fill dx and the gradients of the three matrices; all arrays between are scratch."""
    params = cache[1]
    x, gate, up, hidden = (rows_of(cache[i]) for i in (0, 2, 3, 4))
    dout, dgate, dup, spare, dx = (rows_of(array) for array in (dout, dgate, dup, spare, dx))
    np.matmul(dout, params["W_down"].T, out=dgate)  # dhidden, until its slab is done

    def multiply(part):
        with np.errstate(over="ignore"):
            for rows in _slabs(part):
                sigmoid = np.exp(-gate[rows])
                sigmoid += 1
                np.divide(1, sigmoid, out=sigmoid)
                silu = gate[rows] * sigmoid
                np.multiply(dgate[rows], silu, out=dup[rows])
                dgate[rows] *= up[rows]
                silu *= 1 - sigmoid
                silu += sigmoid  # now SiLU' = σ + SiLU (1 - σ)
                dgate[rows] *= silu

    in_two(multiply, len(gate), gate.size)
    np.matmul(dgate, params["W_gate"].T, out=dx)
    dx += np.matmul(dup, params["W_up"].T, out=spare)
    np.matmul(x.T, dgate, out=grads["W_gate"])
    np.matmul(x.T, dup, out=grads["W_up"])
    np.matmul(hidden.T, dout, out=grads["W_down"])
