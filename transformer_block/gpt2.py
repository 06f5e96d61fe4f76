"""The block of GPT-2 and nanoGPT: LayerNorm, GELU, biases everywhere, and no RoPE."""

from transformer_block._require import require_axes, require_heads, require_weights
from transformer_block.attention import causal_attention_forward
from transformer_block.gelu import gelu
from transformer_block.heads import merge_heads, split_heads
from transformer_block.layernorm import layernorm_forward

MATRICES = ("q", "k", "v", "o", "1", "2")  # each W_… has a bias b_…


def gpt2_block(x, params, n_heads, eps=1e-5):
    """Run a pre-norm block as GPT-2 has it: the wiring of (22.1), other parts.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream; positions are in it already, added to the embedding.
    params : dict
        ``attn_norm``, ``attn_norm_bias``, ``ffn_norm``, ``ffn_norm_bias`` (d,): gain and bias of
        both LayerNorms; ``W_q``, ``W_k``, ``W_v`` (d, d) and ``W_o`` (d, d); ``W_1`` (d, h) and
        ``W_2`` (h, d). Each matrix has a bias as wide as its result: ``b_q``, ``b_k``, ``b_v``,
        ``b_o``, ``b_1``, ``b_2``.
    n_heads : int
        H, the number of heads, of queries as of keys and values.
    eps : float
        As in `layernorm_forward`.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream after the block, in the dtype of ``x``.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape, or the heads do not come out even.

    Notes
    -----
    GELU in its tanh form. Source: Radford et al. 2019, Language Models are Unsupervised
    Multitask Learners, and the model's published code.
    """
    _require_gpt2(x, params, n_heads)

    def linear(rows, name):
        return rows @ params[f"W_{name}"] + params[f"b_{name}"]

    normed, _ = layernorm_forward(x, params["attn_norm"], params["attn_norm_bias"], eps)
    q, k, v = (split_heads(linear(normed, name), n_heads) for name in "qkv")  # (..., H, T, K)
    mixed, _ = causal_attention_forward(q, k, v)
    u = x + linear(merge_heads(mixed), "o")
    normed, _ = layernorm_forward(u, params["ffn_norm"], params["ffn_norm_bias"], eps)
    return u + linear(gelu(linear(normed, "1")), "2")


def _require_gpt2(x, params, n_heads):
    """Refuse weights that do not fit."""
    require_axes("x", x, "T", "d")
    require_heads(x, params, n_heads)
    norms = ("attn_norm", "attn_norm_bias", "ffn_norm", "ffn_norm_bias")
    require_weights(params, x.shape[-1], W_1=("d", "h"), W_2=("h", "d"), b_1=("h",), b_2=("d",))
    require_weights(params, x.shape[-1], **dict.fromkeys(norms, ("d",)))
    for name in MATRICES[:4]:
        width = params[f"W_{name}"].shape[1]
        require_weights(params, width, **{f"b_{name}": ("d",)})
