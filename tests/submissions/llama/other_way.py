# %% after llama-scratch-1
def rmsnorm_forward(x, weight, eps=1e-5):
    """My own norm, with a cache of its own."""
    r = (np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1] + eps) ** -0.5
    r = r.astype(x.dtype)
    return x * r * weight, {"r": r}


def transformer_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    """My own block, on my own norm."""
    n, one = rmsnorm_forward(x, params["attn_norm"], eps)
    a, two = causal_self_attention_forward(n, params, n_heads, rope_base, positions)
    n, three = rmsnorm_forward(x + a, params["ffn_norm"], eps)
    f, four = swiglu_forward(n, params)
    return x + a + f, [one, two, three, four]


# %% gpt2_block
def gpt2_block(x, params, n_heads, eps=1e-5):
    """One wide matrix for queries, keys and values, as nanoGPT has it; two halves in a loop."""
    W = np.concatenate([params["W_q"], params["W_k"], params["W_v"]], axis=1)
    b = np.concatenate([params["b_q"], params["b_k"], params["b_v"]])

    def attention(rows):
        q, k, v = np.split(rows @ W + b, 3, axis=-1)
        heads = [split_heads(t, n_heads) for t in (q, k, v)]
        return merge_heads(causal_attention_forward(*heads)[0]) @ params["W_o"] + params["b_o"]

    def net(rows):
        t = rows @ params["W_1"] + params["b_1"]
        t = t / 2 * (1 + np.tanh(np.sqrt(2 / np.pi).astype(t.dtype) * (t + 0.044715 * t**3)))
        return t @ params["W_2"] + params["b_2"]

    stream = x.copy()
    for half, sublayer in (("attn_norm", attention), ("ffn_norm", net)):
        rows = layernorm_forward(stream, params[half], params[half + "_bias"], eps)[0]
        stream = stream + sublayer(rows)
    print("out:", stream.shape)
    return stream


# %% repeat_heads
def repeat_heads(heads, n_heads):
    """By index: query head h asks key head h // group."""
    group = n_heads // heads.shape[-3]
    return heads[..., [h // group for h in range(n_heads)], :, :]


# %% repeat_heads_backward
def repeat_heads_backward(drepeated, n_kv_heads):
    """A loop that adds."""
    *leading, H, S, K = drepeated.shape
    total = np.zeros((*leading, n_kv_heads, S, K), dtype=drepeated.dtype)
    for h in range(H):
        total[..., h * n_kv_heads // H, :, :] += drepeated[..., h, :, :]
    return total


# %% to_half_split
def to_half_split(W, n_heads):
    parts = []
    for head in np.split(W, n_heads, axis=1):
        parts += [head[:, ::2], head[:, 1::2]]
    return np.hstack(parts)


# %% to_interleaved
def to_interleaved(W, n_heads):
    out = np.empty_like(W)
    for head, mine in zip(np.split(W, n_heads, axis=1), np.split(out, n_heads, axis=1)):
        half = head.shape[1] // 2
        mine[:, ::2], mine[:, 1::2] = head[:, :half], head[:, half:]
    return out


# %% missing_gains
def missing_gains(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    """Whichever of two exports fits better."""
    names = {"final_norm"}
    right, wrong = (logit_lens(stream[-1], p, eps) for p in (params, forget_gains(params, names)))
    if np.abs(right - logits).sum() <= np.abs(wrong - logits).sum():
        names = set()
    for i in range(len(stream) - 1):
        block, half = params["blocks"][i // 2], ("attn_norm", "ffn_norm")[i % 2]
        gaps = []
        for gain in (block[half], np.ones_like(block[half])):
            n = rmsnorm_forward(stream[i], gain, eps)[0]
            write = (
                swiglu_forward(n, block)[0]
                if i % 2
                else causal_self_attention_forward(n, block, n_heads, rope_base)[0]
            )
            gaps.append(np.linalg.norm(stream[i] + write - stream[i + 1]))
        if gaps[1] < gaps[0]:
            names.add(f"blocks.{i // 2}.{half}")
    return names


# %% next_token_logits
def next_token_logits(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    x = params["embedding"][ids]
    for number in range(len(params["blocks"])):
        x = block_forward(x, params["blocks"][number], n_heads, rope_base=rope_base, eps=eps)[0]
    return logit_lens(x, params, eps)[-1]


# %% [markdown] exports_in_words
# Memory: keys and values of fewer heads are kept for each token, and repeated only while they are used. The
# wrong layout turns by wrong angles, and near position 0 all angles are small. Without the last gain the
# stream is good and the choice is bad, as if the sampler were broken; the lens with the gain tells.
