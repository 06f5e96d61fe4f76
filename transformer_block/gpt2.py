"""The block of GPT-2 and nanoGPT: LayerNorm, GELU, biases everywhere, and no RoPE."""

from transformer_block._require import require_gpt2_weights
from transformer_block.attention import causal_attention_forward
from transformer_block.gelu import gelu
from transformer_block.heads import merge_heads, split_heads
from transformer_block.layernorm import layernorm_forward


def gpt2_block(x, params, n_heads, eps=1e-5):
    """Run a pre-norm block as GPT-2 has it: the wiring of a Llama, and other parts.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream; positions are in it already, added to the embedding.
    params : dict
        Gain and bias of both LayerNorms: ``attn_norm`` (d,), ``attn_norm_bias`` (d,),
        ``ffn_norm`` (d,), ``ffn_norm_bias`` (d,). Six matrices, each with a bias: ``W_q``
        (d, H·K), ``b_q`` (H·K,), ``W_k`` (d, H·K), ``b_k`` (H·K,), ``W_v`` (d, H·K), ``b_v``
        (H·K,), ``W_o`` (H·K, d), ``b_o`` (d,), ``W_1`` (d, h), ``b_1`` (h,), ``W_2`` (h, d),
        ``b_2`` (d,).
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
    require_gpt2_weights(x, params, n_heads)

    def linear(rows, name):
        return rows @ params[f"W_{name}"] + params[f"b_{name}"]

    normed, _ = layernorm_forward(x, params["attn_norm"], params["attn_norm_bias"], eps)
    q, k, v = (split_heads(linear(normed, name), n_heads) for name in "qkv")  # (..., H, T, K)
    mixed, _ = causal_attention_forward(q, k, v)
    u = x + linear(merge_heads(mixed), "o")
    normed, _ = layernorm_forward(u, params["ffn_norm"], params["ffn_norm_bias"], eps)
    return u + linear(gelu(linear(normed, "1")), "2")
