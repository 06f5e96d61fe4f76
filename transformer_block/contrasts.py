"""Blocks built otherwise, for comparison: post-norm, no residuals, LayerNorm, the GELU net."""

from transformer_block._require import require_axes, require_weights
from transformer_block.attention import (
    causal_self_attention_backward,
    causal_self_attention_forward,
)
from transformer_block.gelu import gelu_net_backward, gelu_net_forward
from transformer_block.layernorm import layernorm_backward, layernorm_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward
from transformer_block.swiglu import swiglu_backward, swiglu_forward

ORDERS = ("pre", "post", "none")
NORMS = {  # forward, backward, and what each of its vectors adds to the name of the norm
    "rms": (rmsnorm_forward, rmsnorm_backward, ("",)),
    "layer": (layernorm_forward, layernorm_backward, ("", "_bias")),
}
NETS = {
    "swiglu": (swiglu_forward, swiglu_backward),
    "gelu": (gelu_net_forward, gelu_net_backward),
}


def contrast_block_forward(
    x,
    params,
    n_heads,
    rope_base=10_000.0,
    eps=1e-5,
    positions=None,
    order="pre",
    norm="rms",
    net="swiglu",
):
    """Run a block with another place for the norm, another norm, or another net.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream: one row for each token.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d),
        ``attn_norm`` (d,), ``ffn_norm`` (d,), ``W_gate`` (d, h), ``W_up`` (d, h) and
        ``W_down`` (h, d); with the GELU net W_1 (d, h) and W_2 (h, d) instead of the last
        three; with LayerNorm attn_norm_bias (d,) and ffn_norm_bias (d,) besides.
    n_heads : int
        H, the number of query heads.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`.
    positions : ndarray of int, shape (T,), optional
        As in `rope_forward`; all zero means no RoPE, as in GPT-2.
    order : str
        ``"pre"``: x + f(norm(x)). ``"post"``: norm(x + f(x)), as in 2017. ``"none"``: f(norm(x)),
        no residual at all.
    norm : str
        ``"rms"`` or ``"layer"``.
    net : str
        ``"swiglu"`` or ``"gelu"``.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream after the block, in the dtype of ``x``. All defaults together give
        `transformer_block_forward`.
    cache : tuple
        ``((order, norm, net), attn_half, ffn_half)``: how it was built, and the caches of norm
        and sublayer in each half.

    Raises
    ------
    ValueError
        If ``order``, ``norm`` or ``net`` is unknown, or as in `transformer_block_forward`.
    """
    _require_known(order=(order, ORDERS), norm=(norm, NORMS), net=(net, NETS))
    require_axes("x", x, "T", "d")
    norm_forward, _, endings = NORMS[norm]
    vectors = [name + ending for name in ("attn_norm", "ffn_norm") for ending in endings]
    require_weights(params, x.shape[-1], **dict.fromkeys(vectors, ("d",)))

    def normalise(name):
        return lambda t: norm_forward(t, *(params[name + ending] for ending in endings), eps)

    residual, attn_half = _half_forward(
        x,
        normalise("attn_norm"),
        lambda t: causal_self_attention_forward(t, params, n_heads, rope_base, positions),
        order,
    )
    out, ffn_half = _half_forward(
        residual, normalise("ffn_norm"), lambda t: NETS[net][0](t, params), order
    )
    return out, ((order, norm, net), attn_half, ffn_half)


def contrast_block_backward(dout, cache):
    """Send a gradient back through a block of `contrast_block_forward`.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``((order, norm, net), attn_half, ffn_half)`` from `contrast_block_forward`.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``.
    grads : dict
        The gradient of every weight in use, under the names of ``params``.
    """
    (order, norm, net), attn_half, ffn_half = cache
    _, norm_backward, endings = NORMS[norm]
    dresidual, ffn_norm, ffn_grads = _half_backward(
        dout, ffn_half, norm_backward, NETS[net][1], order
    )
    dx, attn_norm, attn_grads = _half_backward(
        dresidual, attn_half, norm_backward, causal_self_attention_backward, order
    )
    names = [name + ending for name in ("ffn_norm", "attn_norm") for ending in endings]
    norm_grads = dict(zip(names, (*ffn_norm, *attn_norm), strict=True))
    return dx, {**norm_grads, **ffn_grads, **attn_grads}


def _half_forward(x, norm, sublayer, order):
    """Run one norm and one sublayer; return the stream after them and both caches."""
    if order == "post":
        written, sub_cache = sublayer(x)
        out, norm_cache = norm(x + written)
        return out, (norm_cache, sub_cache)
    normed, norm_cache = norm(x)
    written, sub_cache = sublayer(normed)
    return (x + written if order == "pre" else written), (norm_cache, sub_cache)


def _half_backward(dout, cache, norm_backward, sublayer_backward, order):
    """Go back through one half; return dx, the norm's gradients, the sublayer's gradients."""
    norm_cache, sub_cache = cache
    if order == "post":
        dsum, *norm_grads = norm_backward(dout, norm_cache)
        dbranch, grads = sublayer_backward(dsum, sub_cache)
        return dsum + dbranch, norm_grads, grads
    dnormed, grads = sublayer_backward(dout, sub_cache)
    dbranch, *norm_grads = norm_backward(dnormed, norm_cache)
    return (dout + dbranch if order == "pre" else dbranch), norm_grads, grads


def _require_known(**choices):
    """Raise ``ValueError`` unless every choice is among the known ones."""
    for name, (chosen, known) in choices.items():
        if chosen not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}: got {chosen!r}")
