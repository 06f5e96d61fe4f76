"""The same block, faster: equal results and equal caches as `transformer_block.block`.

Read `block.py` first; nothing else is computed here. What the listing spends beside its matrix
products is mostly memory traffic, and that is what is saved:

- All that is cached lies in one piece of memory, and so does all that is scratch. The system
  clears each page that it hands out, and for large pieces it hands out pages of 2 MB instead of
  4 KB: with an array each, this alone cost more than all exponentials. A piece that nobody holds
  any more is used again, and is not cleared a second time.
- Arrays of our own are written in place. What is done entry by entry is done a slab of rows at a
  time, so that it stays in the processor's cache.
- A large batch is shared among threads, each with sequences of its own: what lies between the
  products is then done on all processors, too. The gradient of a matrix, which is a sum over all
  sequences, is shared by its rows. (The extra ``fast`` has what this needs, `threadpoolctl`.)
- Queries are taken a block at a time, and a block is multiplied only with the keys that its last
  query may see: most of the upper triangle is never computed.
- A pair of features is one complex number, and a turn is one complex product.
"""

import numpy as np

from transformer_block._fast_attention import attention_backward, attention_forward, make_turn
from transformer_block._memory import PIECES, carve, cut, rows_of, size_of
from transformer_block._require import (
    require_axes,
    require_heads,
    require_shape,
    require_weights,
)
from transformer_block._threads import at_once

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
    sizes = _require_block(x, params, n_heads)
    *leading, T, _ = x.shape
    rows = _by_sequence(x)  # (B, T, d)
    arrays = carve(_shapes(*rows.shape, *sizes), x.dtype)
    turn = make_turn(T, sizes[2], rope_base, positions, x.dtype)
    out = np.empty(x.shape, x.dtype)

    def work(share):
        part = share(len(rows))
        some = (array[part] for array in (_by_sequence(out), *arrays))
        _forward(rows[part], params, turn, eps, *some)

    at_once(work, len(rows), x.size)
    arrays = (array.reshape(*leading, *array.shape[1:]) for array in arrays)
    return out, _cache(x, params, turn, *arrays)


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
    x, _, gate, *_ = cache[4]
    require_shape("dout", dout, x.shape)
    q, k, v, weights = (_by_sequence(array, 3) for array in cache[1][3])
    params = cache[4][1]
    dx, *dparams = carve((x.shape, *(params[name].shape for name in NAMES)), x.dtype)
    grads = dict(zip(NAMES, dparams, strict=True))
    # The net is done with its scratch when attention begins: both use the same piece.
    rows, wide = _by_sequence(x).shape, _by_sequence(gate).shape
    by_token = [heads.swapaxes(1, 2).shape for heads in (q, q, k, v)]
    net_shapes, attn_shapes = (rows, rows, wide, wide), (rows, rows, *by_token, weights.shape)
    scratch = PIECES.take(max(size_of(net_shapes), size_of(attn_shapes)), x.dtype)
    dout = _by_sequence(dout.astype(x.dtype, copy=False))
    into = _by_sequence(dx)
    _net_backward(dout, cache, grads, *cut(scratch, net_shapes), into)
    _attend_backward(cache, grads, *cut(scratch, attn_shapes), into)
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


def _by_sequence(array, n=2):
    """View an array with one leading axis before the n axes of a sequence."""
    return array if array.ndim == n + 1 else array.reshape(-1, *array.shape[-n:])


def _shapes(B, T, d, H, H_kv, K, h):
    """List the shapes of all that is cached, in the order in which `_forward` takes it."""
    norm = ((B, T, 1), (B, T, d), (B, T, d))
    heads = ((B, T, H, K), (B, T, H_kv, K), (B, T, H_kv, K), (B, H, T, T), (B, T, H, K))
    return (*norm, *heads, (B, T, d), *norm, *3 * ((B, T, h),))


def _forward(x, params, turn, eps, out, inv1, normalized1, normed1, q, k, v, weights, mixed,
             residual, inv2, normalized2, normed2, gate, up, hidden):  # fmt: skip
    """Fill all arrays from out to hidden, for some sequences."""
    _rmsnorm_forward(x, params["attn_norm"], eps, inv1, normalized1, normed1)
    attention_forward(normed1, params, turn, q, k, v, weights, mixed, residual)
    residual += x
    _rmsnorm_forward(residual, params["ffn_norm"], eps, inv2, normalized2, normed2)
    _swiglu_forward(normed2, params, gate, up, hidden, out)
    out += residual


def _cache(x, params, turn, inv1, normalized1, normed1, q, k, v, weights, mixed, residual,
           inv2, normalized2, normed2, gate, up, hidden):  # fmt: skip
    """Put the arrays where the listing has them."""
    heads = tuple(array.swapaxes(-3, -2) for array in (q, k, v))  # (..., H, T, K), views
    merged = mixed.reshape(*mixed.shape[:-2], -1)  # (..., T, H·K)
    return (
        (x, params["attn_norm"], inv1, normalized1),
        (normed1, params, turn, (*heads, weights), merged),
        residual,
        (residual, params["ffn_norm"], inv2, normalized2),
        (normed2, params, gate, up, hidden),
    )


def _net_backward(dout, cache, grads, dresidual, spare, dgate, dup, dx):
    """Fill dresidual, the gradient after attention's half, and the gradients of the net."""
    *_, norm, (x, params, gate, up, hidden) = cache
    x, gate, up, hidden = (_by_sequence(array) for array in (x, gate, up, hidden))

    def rows(share):
        part = share(len(x))
        mine = [array[part] for array in (dout, gate, up, dgate, dup, spare, dx)]
        _swiglu_backward(params, *map(rows_of, mine))
        some = (array[part] for array in (dx, spare, dresidual))
        dweight = _rmsnorm_backward(_part_of(norm, part), *some)
        dresidual[part] += dout[part]
        return dweight

    def matrices(share):
        for name, into, by in (("W_gate", x, dgate), ("W_up", x, dup), ("W_down", hidden, dout)):
            _weight_gradient(into, by, share, grads[name])

    grads["ffn_norm"][:] = sum(at_once(rows, len(x), x.size))
    at_once(matrices, len(x), x.size)


def _attend_backward(cache, grads, dresidual, spare, dmixed, dq, dk, dv, dscores, dx):
    """Fill dx, and the gradients of attention's half."""
    norm, (x, params, turn, heads, merged), *_ = cache
    x, merged = _by_sequence(x), _by_sequence(merged)
    heads = [_by_sequence(array, 3) for array in heads]

    def rows(share):
        part = share(len(x))
        mine = (array[part] for array in (*heads, merged, dmixed, dq, dk, dv, dscores, spare, dx))
        attention_backward(dresidual[part], params, turn, *mine)
        dweight = _rmsnorm_backward(_part_of(norm, part), dx[part], spare[part], dx[part])
        dx[part] += dresidual[part]
        return dweight

    def matrices(share):
        _weight_gradient(merged, dresidual, share, grads["W_o"])
        for name, by in (("W_q", dq), ("W_k", dk), ("W_v", dv)):
            _weight_gradient(x, by, share, grads[name])

    grads["attn_norm"][:] = sum(at_once(rows, len(x), x.size))
    at_once(matrices, len(x), x.size)


def _part_of(norm, part):
    """Take the gain, and what some sequences left in the cache of `rmsnorm_forward`."""
    _, weight, inv_rms, normalized = norm
    return weight, _by_sequence(inv_rms)[part], _by_sequence(normalized)[part]


def _weight_gradient(x, dout, share, dW):
    """Fill the shared rows of dW, the gradient of the matrix in x @ W."""
    part, dout = share(x.shape[-1]), dout.reshape(-1, dW.shape[-1])
    np.matmul(rows_of(x)[:, part].T, dout, out=dW[part])


def _slabs(n):
    for start in range(0, n, SLAB):
        yield slice(start, min(start + SLAB, n))


def _rmsnorm_forward(x, weight, eps, inv_rms, normalized, out):
    """Fill inv_rms, normalized and out."""
    mean_square = np.vecdot(x, x)[..., None] / x.shape[-1]  # (..., 1), no array of squares
    np.divide(1, np.sqrt(mean_square + eps), out=inv_rms)
    np.multiply(x, inv_rms, out=normalized)
    np.multiply(normalized, weight, out=out)


def _rmsnorm_backward(norm, dout, spare, dx):
    """Fill dx, which may be dout, and return dweight, by equation (22.3).

    With the normalised row n = x r it says dx = r (z̄ - n (z̄ · n) / d).
    """
    weight, inv_rms, normalized = norm
    np.multiply(dout, normalized, out=spare)
    dweight = np.add.reduce(rows_of(spare))
    along = (spare @ weight)[..., None] / len(weight)  # (..., 1)
    np.multiply(normalized, along, out=spare)
    np.multiply(dout, weight, out=dx)
    dx -= spare
    dx *= inv_rms
    return dweight


def _swiglu_forward(x, params, gate, up, hidden, out):
    """Fill all arrays from gate to out."""
    x, gate, up, hidden, out = map(rows_of, (x, gate, up, hidden, out))
    np.matmul(x, params["W_gate"], out=gate)
    np.matmul(x, params["W_up"], out=up)
    with np.errstate(over="ignore"):
        for rows in _slabs(len(gate)):
            divisor = np.exp(-gate[rows])
            divisor += 1
            np.divide(gate[rows], divisor, out=divisor)  # SiLU as one division
            np.multiply(divisor, up[rows], out=hidden[rows])
    np.matmul(hidden, params["W_down"], out=out)


def _swiglu_backward(params, dout, gate, up, dgate, dup, spare, dx):
    """Fill all arrays from dgate to dx; all are one row a token."""
    np.matmul(dout, params["W_down"].T, out=dgate)  # dhidden, until its slab is done
    with np.errstate(over="ignore"):
        for rows in _slabs(len(gate)):
            sigmoid = np.exp(-gate[rows])
            sigmoid += 1
            np.divide(1, sigmoid, out=sigmoid)
            silu = gate[rows] * sigmoid
            np.multiply(dgate[rows], silu, out=dup[rows])
            dgate[rows] *= up[rows]
            silu *= 1 - sigmoid
            silu += sigmoid  # now SiLU' = σ + SiLU (1 - σ)
            dgate[rows] *= silu
    np.matmul(dgate, params["W_gate"].T, out=dx)
    dx += np.matmul(dup, params["W_up"].T, out=spare)
