"""Four backward passes of the block with one wrong gradient each, for a gradient check to find.

Look for the faults from outside first: what comes back says enough.
"""

import numpy as np

from transformer_block.attention import causal_self_attention_backward
from transformer_block.block import transformer_block_backward
from transformer_block.rmsnorm import rmsnorm_backward
from transformer_block.swiglu import swiglu_backward


def faulty_backward(dout, cache, fault=1):
    """Send a gradient back through the block, with a fault.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(norm1, attn_cache, residual, norm2, ffn_cache)`` from `transformer_block_forward`.
    fault : int
        Which fault: 1, 2, 3 or 4.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``.
    grads : dict
        The gradient of every weight. Of these and ``dx`` exactly one is wrong.

    Raises
    ------
    ValueError
        If there is no such fault.
    """
    if fault not in _FAULTS:
        raise ValueError(f"fault must be 1, 2, 3 or 4: got {fault!r}")
    dx, grads = transformer_block_backward(dout, cache)
    wrong = _FAULTS[fault](dout, cache, grads)
    return wrong.pop("x", dx), grads | wrong


def _one(dout, cache, grads):
    normed, *_ = cache[4]
    dnormed, _ = swiglu_backward(dout, cache[4])
    return {"ffn_norm": _over_tokens(dnormed * normed, grads["ffn_norm"].dtype)}


def _two(dout, cache, grads):
    dbranch, _ = rmsnorm_backward(_to_attention(dout, cache), cache[0])
    return {"x": dout + dbranch}


def _three(dout, cache, grads):
    q, k, *_ = cache[1][3]
    return {"W_v": grads["W_v"] * (k.shape[-3] / q.shape[-3])}


def _four(dout, cache, grads):
    x, *_ = cache[0]
    root = np.sqrt(np.mean(x * x, axis=-1, keepdims=True))  # (..., T, 1)
    rows = _to_attention(dout, cache) * x / root
    return {"attn_norm": _over_tokens(rows, grads["attn_norm"].dtype)}


_FAULTS = {1: _one, 2: _two, 3: _three, 4: _four}


def _to_attention(dout, cache):
    """Go back as far as the rows that attention has read."""
    _, attn_cache, _, norm2, ffn_cache = cache
    dbranch, _ = rmsnorm_backward(swiglu_backward(dout, ffn_cache)[0], norm2)
    return causal_self_attention_backward(dout + dbranch, attn_cache)[0]


def _over_tokens(rows, dtype):
    """Add up the rows of all tokens."""
    return np.sum(rows, axis=tuple(range(rows.ndim - 1))).astype(dtype)
