"""One step of generation: a few new tokens run through the block, the old ones kept as k and v."""

import numpy as np

from transformer_block._require import require_axes, require_weights
from transformer_block.attention import causal_attention_forward, project_heads
from transformer_block.heads import merge_heads
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.swiglu import swiglu_forward


def causal_self_attention_step(x, params, n_heads, past=None, rope_base=10_000.0):
    """Attend from new tokens to old ones whose keys and values were kept.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        Only the new tokens, one or more.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d), in the
        dtype of ``x``.
    n_heads : int
        H, the number of query heads.
    past : tuple, optional
        ``(k, v)`` of all earlier tokens, from the last step; ``None`` at the start.
    rope_base : float
        As in `rope_angles`.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        What a full forward pass over old and new tokens gives for the new ones.
    past : tuple
        ``(k, v)`` of old and new tokens, two new arrays of shape (..., H_kv, S, K).

    Raises
    ------
    ValueError
        As in `causal_self_attention_forward`.

    Notes
    -----
    Keys are kept after their turn: the position of an old token does not change.
    """
    seen = 0 if past is None else past[0].shape[-2]
    positions = np.arange(seen, seen + x.shape[-2])
    q, k, v, _ = project_heads(x, params, n_heads, rope_base, positions)
    if past is not None:
        k = np.concatenate((past[0], k), axis=-2)  # (..., H_kv, S, K)
        v = np.concatenate((past[1], v), axis=-2)
    mixed, _ = causal_attention_forward(q, k, v)
    return merge_heads(mixed) @ params["W_o"], (k, v)


def transformer_block_step(x, params, n_heads, past=None, rope_base=10_000.0, eps=1e-5):
    """Run the block on new tokens alone, with the keys and values of the old ones kept.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The stream of the new tokens, one or more.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d),
        ``W_gate`` (d, h), ``W_up`` (d, h), ``W_down`` (h, d), ``attn_norm`` (d,),
        ``ffn_norm`` (d,), in the dtype of ``x``.
    n_heads : int
        H, the number of query heads.
    past : tuple, optional
        ``(k, v)`` of all earlier tokens, from the last step; ``None`` at the start.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        What `transformer_block_forward` over old and new tokens gives for the new ones.
    past : tuple
        ``(k, v)`` of old and new tokens, two new arrays of shape (..., H_kv, S, K).

    Raises
    ------
    ValueError
        As in `transformer_block_forward`.
    """
    require_axes("x", x, "T", "d")
    require_weights(params, x.shape[-1], attn_norm=("d",), ffn_norm=("d",))
    normed, _ = rmsnorm_forward(x, params["attn_norm"], eps)
    attended, past = causal_self_attention_step(normed, params, n_heads, past, rope_base)
    residual = x + attended
    normed, _ = rmsnorm_forward(residual, params["ffn_norm"], eps)
    fed, _ = swiglu_forward(normed, params)
    return residual + fed, past
