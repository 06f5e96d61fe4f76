# %% gpt2_block
def gpt2_block(x, params, n_heads, eps=1e-5):
    def linear(rows, name):
        return rows @ params["W_" + name] + params["b_" + name]

    n, _ = layernorm_forward(x, params["attn_norm"], params["attn_norm_bias"], eps)
    q, k, v = (split_heads(linear(n, c), n_heads) for c in "qkv")
    mixed, _ = causal_attention_forward(q, k, v)
    u = x + linear(merge_heads(mixed), "o")
    n, _ = layernorm_forward(u, params["ffn_norm"], params["ffn_norm_bias"], eps)
    return u + linear(gelu(linear(n, "1")), "2")


# %% repeat_heads
def repeat_heads(heads, n_heads):
    return np.repeat(heads, n_heads // heads.shape[-3], axis=-3)


# %% repeat_heads_backward
def repeat_heads_backward(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, n_kv_heads, H // n_kv_heads, S, K).sum(axis=-3)


# %% to_half_split
def to_half_split(W, n_heads):
    return W.reshape(len(W), n_heads, -1, 2).swapaxes(-1, -2).reshape(W.shape)


# %% to_interleaved
def to_interleaved(W, n_heads):
    return W.reshape(len(W), n_heads, 2, -1).swapaxes(-1, -2).reshape(W.shape)


# %% missing_gains
def missing_gains(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    names = []
    for number, block in enumerate(params["blocks"]):
        n, _ = rmsnorm_forward(stream[2 * number], block["attn_norm"], eps)
        attended, _ = causal_self_attention_forward(n, block, n_heads, rope_base)
        n, _ = rmsnorm_forward(stream[2 * number + 1], block["ffn_norm"], eps)
        fed, _ = swiglu_forward(n, block)
        for half, i, write in (("attn_norm", 0, attended), ("ffn_norm", 1, fed)):
            change = stream[2 * number + i + 1] - stream[2 * number + i]
            if np.abs(change - write).max() > 1e-4 * np.abs(write).max():
                names.append(f"blocks.{number}.{half}")
    right = logit_lens(stream[-1], params, eps)
    if np.abs(logits - right).max() > 1e-4 * np.abs(right).max():
        names.append("final_norm")
    return names


# %% next_token_logits
def next_token_logits(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
    x, _ = rmsnorm_forward(x, params["final_norm"], eps)
    return x[-1] @ params.get("head", params["embedding"]).T


# %% [markdown] exports_in_words
# The cache is smaller, since it keeps the heads before they are repeated. At position 0 nothing is turned,
# and errors grow with the distance. The stream of the last export is right and only its reading is not, so
# odd words come as from a wrong temperature; the logits with the right gain show it.
