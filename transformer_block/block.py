"""The pre-norm decoder block, equation (22.1): normalise, transform, add back, twice."""

from transformer_block._require import require_axes, require_shape, require_weights
from transformer_block.attention import (
    causal_self_attention_backward,
    causal_self_attention_forward,
)
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward
from transformer_block.swiglu import swiglu_backward, swiglu_forward


def transformer_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    """Add what attention writes to the stream, then what the feed-forward net writes (22.1).

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
        ``(norm1, attn_cache, residual, norm2, ffn_cache)``: the caches of the four parts, and
        the stream between the two halves.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape, or the heads do not come out even.
    """
    require_axes("x", x, "T", "d")
    require_weights(params, x.shape[-1], attn_norm=("d",), ffn_norm=("d",))
    normed, norm1 = rmsnorm_forward(x, params["attn_norm"], eps)
    attended, attn_cache = causal_self_attention_forward(
        normed, params, n_heads, rope_base, positions
    )
    residual = x + attended
    normed, norm2 = rmsnorm_forward(residual, params["ffn_norm"], eps)
    fed, ffn_cache = swiglu_forward(normed, params)
    return residual + fed, (norm1, attn_cache, residual, norm2, ffn_cache)


def transformer_block_backward(dout, cache):
    """Send a gradient back through both halves; at each add it splits in two.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(norm1, attn_cache, residual, norm2, ffn_cache)`` from `transformer_block_forward`.

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
    grads = {}
    # The last add hands dout to both its terms: to the stream as it is, and to the net.
    dnormed, ffn_grads = swiglu_backward(dout, ffn_cache)
    dbranch, grads["ffn_norm"] = rmsnorm_backward(dnormed, norm2)
    dresidual = dout + dbranch
    # The first add does the same with dresidual: to the stream, and to attention.
    dnormed, attn_grads = causal_self_attention_backward(dresidual, attn_cache)
    dbranch, grads["attn_norm"] = rmsnorm_backward(dnormed, norm1)
    dx = dresidual + dbranch
    return dx, {**grads, **ffn_grads, **attn_grads}
