"""Right answers that look different: every one of them must pass every claim."""

import math

import numpy as np

from transformer_block import gpt2, heads, layouts
from transformer_block.attention import causal_attention_forward, causal_self_attention_forward
from transformer_block.contrasts import contrast_block_forward
from transformer_block.decoder import decoder_forward
from transformer_block.gelu import gelu
from transformer_block.heads import merge_heads, split_heads
from transformer_block.layernorm import layernorm_forward
from transformer_block.practice import forget_gains, gain_names, stack_logits
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.rope import half_split_order
from transformer_block.swiglu import swiglu_forward
from transformer_block.traces import logit_lens

# gpt2_block


def old_block_step_by_step(x, params, n_heads, eps=1e-5):
    p = params
    n = layernorm_forward(x, p["attn_norm"], p["attn_norm_bias"], eps)[0]
    q = split_heads(n @ p["W_q"] + p["b_q"], n_heads)
    k = split_heads(n @ p["W_k"] + p["b_k"], n_heads)
    v = split_heads(n @ p["W_v"] + p["b_v"], n_heads)
    x = x + merge_heads(causal_attention_forward(q, k, v)[0]) @ p["W_o"] + p["b_o"]
    n = layernorm_forward(x, p["ffn_norm"], p["ffn_norm_bias"], eps)[0]
    return x + gelu(n @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]


def old_block_in_place_on_a_copy(x, params, n_heads, eps=1e-5):
    stream = np.array(x)
    n, _ = layernorm_forward(stream, params["attn_norm"], params["attn_norm_bias"], eps)
    parts = [split_heads(n @ params["W_" + c] + params["b_" + c], n_heads) for c in "qkv"]
    stream += merge_heads(causal_attention_forward(*parts)[0]) @ params["W_o"] + params["b_o"]
    n, _ = layernorm_forward(stream, params["ffn_norm"], params["ffn_norm_bias"], eps)
    stream += gelu(n @ params["W_1"] + params["b_1"]) @ params["W_2"] + params["b_2"]
    return stream


def old_block_one_matrix_for_three(x, params, n_heads, eps=1e-5):
    """As nanoGPT has it: one wide matrix makes queries, keys and values."""
    W = np.concatenate([params[f"W_{c}"] for c in "qkv"], axis=1)
    b = np.concatenate([params[f"b_{c}"] for c in "qkv"])
    n, _ = layernorm_forward(x, params["attn_norm"], params["attn_norm_bias"], eps)
    q, k, v = (split_heads(part, n_heads) for part in np.split(n @ W + b, 3, axis=-1))
    u = x + (merge_heads(causal_attention_forward(q, k, v)[0]) @ params["W_o"] + params["b_o"])
    n, _ = layernorm_forward(u, params["ffn_norm"], params["ffn_norm_bias"], eps)
    return u + (gelu(n @ params["W_1"] + params["b_1"]) @ params["W_2"] + params["b_2"])


def old_block_by_head(x, params, n_heads, eps=1e-5):
    """Each head by itself; it adds its own write to the stream."""
    n, _ = layernorm_forward(x, params["attn_norm"], params["attn_norm_bias"], eps)
    K, T, u = x.shape[-1] // n_heads, x.shape[-2], x + params["b_o"]
    for h in range(n_heads):
        one = slice(h * K, (h + 1) * K)
        q, k, v = (n @ params[f"W_{c}"][:, one] + params[f"b_{c}"][one] for c in "qkv")
        scores = np.where(np.tri(T), q @ k.swapaxes(-1, -2) / math.sqrt(K), -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        u = u + e / e.sum(-1, keepdims=True) @ v @ params["W_o"][one]
    n, _ = layernorm_forward(u, params["ffn_norm"], params["ffn_norm_bias"], eps)
    return (u + gelu(n @ params["W_1"] + params["b_1"]) @ params["W_2"] + params["b_2"]).astype(
        x.dtype
    )


def old_block_from_scratch(x, params, n_heads, eps=1e-5):
    def norm(rows, name):
        rows = rows - rows.mean(-1, keepdims=True)
        size = np.sqrt(np.mean(rows**2, -1, keepdims=True) + eps)
        return rows / size * params[name] + params[name + "_bias"]

    def linear(rows, name):
        return np.einsum("...i,io->...o", rows, params["W_" + name]) + params["b_" + name]

    def cut(rows):
        return np.moveaxis(rows.reshape(*rows.shape[:-1], n_heads, -1), -2, -3)

    n = norm(x, "attn_norm")
    q, k, v = (cut(linear(n, c)) for c in "qkv")
    e = np.exp(np.einsum("...tk,...sk->...ts", q, k) / math.sqrt(q.shape[-1]))
    e = e * np.tri(x.shape[-2])
    mixed = np.moveaxis(e / e.sum(-1, keepdims=True) @ v, -3, -2).reshape(x.shape)
    u = x + linear(mixed, "o")
    wide = linear(norm(u, "ffn_norm"), "1")
    wide = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    return (u + linear(wide, "2")).astype(x.dtype)


def old_block_with_a_helper(x, params, n_heads, eps=1e-5):
    print("a block of", n_heads, "heads")

    def normed(rows, half):
        return layernorm_forward(rows, params[half], params[half + "_bias"], eps)[0]

    def attention(rows):
        q, k, v = (split_heads(rows @ params["W_" + c] + params["b_" + c], n_heads) for c in "qkv")
        return merge_heads(causal_attention_forward(q, k, v)[0]) @ params["W_o"] + params["b_o"]

    def net(rows):
        return gelu(rows @ params["W_1"] + params["b_1"]) @ params["W_2"] + params["b_2"]

    for half, sublayer in (("attn_norm", attention), ("ffn_norm", net)):
        x = x + sublayer(normed(x, half))
    return x


def old_block_of_the_library(x, params, n_heads, eps=1e-5):
    return gpt2.gpt2_block(x, params, n_heads, eps)


# repeat_heads


def repeat_by_numpy(heads, n_heads):
    return np.repeat(heads, n_heads // heads.shape[-3], axis=-3)


def repeat_by_index(heads, n_heads):
    return heads[..., np.arange(n_heads) * heads.shape[-3] // n_heads, :, :]


def repeat_by_a_loop(heads, n_heads):
    group = n_heads // heads.shape[-3]
    return np.stack([heads[..., h // group, :, :] for h in range(n_heads)], axis=-3)


def repeat_by_broadcasting(heads, n_heads):
    *leading, H_kv, S, K = heads.shape
    wide = np.broadcast_to(heads[..., None, :, :], (*leading, H_kv, n_heads // H_kv, S, K))
    return wide.reshape(*leading, n_heads, S, K)


def repeat_by_a_matrix(heads, n_heads):
    H_kv = heads.shape[-3]
    which = np.arange(n_heads)[:, None] // (n_heads // H_kv) == np.arange(H_kv)
    return np.einsum("hg,...gsk->...hsk", which.astype(heads.dtype), heads)


def repeat_by_kronecker(heads, n_heads):
    group = n_heads // heads.shape[-3]
    return np.kron(heads, np.ones((group, 1, 1), heads.dtype))


def repeat_of_the_library(rows, n_heads):
    return heads.repeat_heads(rows, n_heads)


# repeat_heads_backward


def gather_by_reshape(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, n_kv_heads, -1, S, K).sum(axis=-3)


def gather_by_a_loop(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    dheads = np.zeros((*leading, n_kv_heads, S, K), drepeated.dtype)
    for h in range(H):
        dheads[..., h // (H // n_kv_heads), :, :] += drepeated[..., h, :, :]
    return dheads


def gather_by_strides(drepeated, n_kv_heads):
    group = drepeated.shape[-3] // n_kv_heads
    return sum(drepeated[..., copy::group, :, :] for copy in range(group))


def gather_by_a_matrix(drepeated, n_kv_heads):
    H = drepeated.shape[-3]
    which = np.arange(H) // (H // n_kv_heads) == np.arange(n_kv_heads)[:, None]
    return np.einsum("gh,...hsk->...gsk", which.astype(drepeated.dtype), drepeated)


def gather_by_splitting(drepeated, n_kv_heads):
    groups = np.split(drepeated, n_kv_heads, axis=-3)
    return np.concatenate([g.sum(axis=-3, keepdims=True) for g in groups], axis=-3)


def gather_by_reduceat(drepeated, n_kv_heads):
    starts = np.arange(n_kv_heads) * (drepeated.shape[-3] // n_kv_heads)
    return np.add.reduceat(drepeated, starts, axis=-3)


def gather_of_the_library(drepeated, n_kv_heads):
    return heads.repeat_heads_backward(drepeated, n_kv_heads)


# to_half_split and to_interleaved


def half_by_reshape(W, n_heads):
    d, width = W.shape
    return W.reshape(d, n_heads, -1, 2).swapaxes(-1, -2).reshape(d, width)


def half_by_head(W, n_heads):
    heads = np.split(W, n_heads, axis=1)
    return np.concatenate([part for h in heads for part in (h[:, ::2], h[:, 1::2])], axis=1)


def half_by_order(W, n_heads):
    K = W.shape[1] // n_heads
    order = [h * K + j for h in range(n_heads) for j in half_split_order(K)]
    return W[:, order]


def half_by_a_loop(W, n_heads):
    out, K = np.empty_like(W), W.shape[1] // n_heads
    for h in range(n_heads):
        for i in range(K // 2):
            out[:, h * K + i] = W[:, h * K + 2 * i]
            out[:, h * K + K // 2 + i] = W[:, h * K + 2 * i + 1]
    return out


def half_by_transposing(W, n_heads):
    rows = W.T.reshape(n_heads, -1, 2, W.shape[0])
    return np.moveaxis(rows, 2, 1).reshape(W.T.shape).T


def half_by_sorting(W, n_heads):
    K = W.shape[1] // n_heads
    j = np.arange(W.shape[1])
    return np.take(W, np.lexsort((j, j % K % 2, j // K)), axis=1)


def half_of_the_library(W, n_heads):
    return layouts.to_half_split(W, n_heads)


def inter_by_reshape(W, n_heads):
    d, width = W.shape
    return W.reshape(d, n_heads, 2, -1).swapaxes(-1, -2).reshape(d, width)


def inter_by_head(W, n_heads):
    out = np.empty_like(W)
    for h, head in enumerate(np.split(W, n_heads, axis=1)):
        K = head.shape[1]
        mine = out[:, h * K : (h + 1) * K]
        mine[:, ::2], mine[:, 1::2] = head[:, : K // 2], head[:, K // 2 :]
    return out


def inter_by_order(W, n_heads):
    K = W.shape[1] // n_heads
    back = np.argsort(half_split_order(K))
    return np.hstack([W[:, h * K : (h + 1) * K][:, back] for h in range(n_heads)])


def inter_by_a_loop(W, n_heads):
    columns, K = [], W.shape[1] // n_heads
    for h in range(n_heads):
        for i in range(K // 2):
            columns += [W[:, h * K + i], W[:, h * K + K // 2 + i]]
    return np.stack(columns, axis=1)


def inter_by_stacking(W, n_heads):
    heads = W.reshape(W.shape[0], n_heads, -1)
    first, second = np.split(heads, 2, axis=-1)
    return np.stack([first, second], axis=-1).reshape(W.shape)


def inter_as_meta_exports(W, n_heads):
    """On the transposed matrix, as scripts that convert checkpoints do it."""
    return W.T.reshape(n_heads, 2, -1, W.shape[0]).swapaxes(1, 2).reshape(W.T.shape).T


def inter_of_the_library(W, n_heads):
    return layouts.to_interleaved(W, n_heads)


# missing_gains


def writes_of(params, stream, n_heads, rope_base, eps):
    """Yield for each norm of the blocks its name and what should have been written."""
    for number, block in enumerate(params["blocks"]):
        n = rmsnorm_forward(stream[2 * number], block["attn_norm"], eps)[0]
        yield (
            f"blocks.{number}.attn_norm",
            causal_self_attention_forward(n, block, n_heads, rope_base)[0],
        )
        n = rmsnorm_forward(stream[2 * number + 1], block["ffn_norm"], eps)[0]
        yield f"blocks.{number}.ffn_norm", swiglu_forward(n, block)[0]


def far(a, b, bound=1e-4):
    return np.linalg.norm(a - b) > bound * np.linalg.norm(b)


def gains_by_writes(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    expected = writes_of(params, stream, n_heads, rope_base, eps)
    changes = np.diff(stream, axis=0)
    names = [
        name for (name, write), change in zip(expected, changes, strict=True) if far(change, write)
    ]
    out = rmsnorm_forward(stream[-1], params["final_norm"], eps)[0] @ params["embedding"].T
    return names + ["final_norm"] * bool(far(logits, out))


def gains_in_a_set(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return set(gains_by_writes(params, stream, logits, n_heads, rope_base, eps))


def gains_in_a_tuple(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return tuple(reversed(gains_by_writes(params, stream, logits, n_heads, rope_base, eps)))


def gains_by_the_nearer_of_two(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    """For each name both exports are tried: which of them fits better?"""
    names = []
    how = (stream, n_heads, rope_base, eps)
    for place, name in enumerate(gain_names(params)):
        faulty = forget_gains(params, [name])
        if name == "final_norm":
            one, other = (logit_lens(stream[-1], p, eps) for p in (params, faulty))
            seen = logits
        else:
            one, other = (dict(writes_of(p, *how))[name] for p in (params, faulty))
            seen = stream[place + 1] - stream[place]
        if np.abs(other - seen).mean() < np.abs(one - seen).mean():
            names.append(name)
    return names


def gains_in_float64(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    def wide(tree):
        if isinstance(tree, dict):
            return {key: wide(branch) for key, branch in tree.items()}
        return [wide(t) for t in tree] if isinstance(tree, list) else tree.astype(np.float64)

    stream, logits = stream.astype(np.float64), logits.astype(np.float64)
    return gains_by_writes(wide(params), stream, logits, n_heads, rope_base, eps)


def gains_by_solving_for_the_gain(params, stream, logits, n_heads, rope_base=1e4, eps=1e-5):
    """The net's and the final gain as above; that of attention by the size of the difference."""
    names = []
    for number, block in enumerate(params["blocks"]):
        for half, place in (("attn_norm", 2 * number), ("ffn_norm", 2 * number + 1)):
            seen = stream[place + 1] - stream[place]
            n = rmsnorm_forward(stream[place], block[half], eps)[0]
            how = (n, block, n_heads, rope_base)
            write = (
                causal_self_attention_forward(*how)[0]
                if half == "attn_norm"
                else swiglu_forward(n, block)[0]
            )
            if np.abs(write - seen).max() > 1e-4 * np.abs(write).max():
                names.append(f"blocks.{number}.{half}")
    normed = rmsnorm_forward(stream[-1], np.ones_like(params["final_norm"]), eps)[0]
    embedding = params["embedding"]
    gap = np.abs((normed * params["final_norm"]) @ embedding.T - logits).max()
    return [*names, "final_norm"] if gap > 1e-4 * np.abs(logits).max() else names


# next_token_logits


def run_step_by_step(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
    x, _ = rmsnorm_forward(x, params["final_norm"], eps)
    E = params["head"] if "head" in params else params["embedding"]
    return (x @ E.T)[-1]


def run_only_the_last_row_at_the_end(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x = block_forward(x, block, n_heads, rope_base=rope_base, eps=eps)[0]
    last = x[-1]
    inv = (last @ last / len(last) + eps) ** -0.5
    return params.get("head", params["embedding"]) @ (last * inv * params["final_norm"])


def run_recursively(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    def through(x, blocks):
        if not blocks:
            return x
        return through(block_forward(x, blocks[0], n_heads, rope_base, eps)[0], blocks[1:])

    x = through(params["embedding"][ids], params["blocks"])
    return logit_lens(x[-1], params, eps)


def run_by_stack_logits(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    def block(x, weights, number):
        return block_forward(x, weights, n_heads, rope_base, eps)[0]

    return stack_logits(ids, params, block, eps)[-1]


def run_with_one_hot_rows(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    E = params["embedding"]
    x = np.eye(len(E), dtype=E.dtype)[ids] @ E
    for k in range(len(params["blocks"])):
        x, _ = block_forward(x, params["blocks"][k], n_heads, rope_base, eps)
    out, _ = rmsnorm_forward(x[-1:], params["final_norm"], eps)
    return (out @ params.get("head", E).T).ravel()


def run_two_alike(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    """The sequence twice, in a batch."""
    x = params["embedding"][np.stack([ids, ids])]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
    out, _ = rmsnorm_forward(x, params["final_norm"], eps)
    return np.einsum("...d,vd->...v", out, params.get("head", params["embedding"]))[1, -1]


def run_the_decoder_where_the_block_is_its_own(
    ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5
):
    if block_forward.__name__ == "transformer_block_forward":
        return decoder_forward(ids, params, n_heads, rope_base, eps)[0][-1]
    return run_step_by_step(ids, params, block_forward, n_heads, rope_base, eps)


def post_norm_written_out(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    if block_forward.__name__ != "post_norm_block":
        return run_step_by_step(ids, params, block_forward, n_heads, rope_base, eps)
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x = contrast_block_forward(x, block, n_heads, rope_base, eps, order="post")[0]
    return logit_lens(x, params, eps)[-1]


RIGHT = {
    "gpt2_block": [
        old_block_step_by_step,
        old_block_in_place_on_a_copy,
        old_block_one_matrix_for_three,
        old_block_by_head,
        old_block_from_scratch,
        old_block_with_a_helper,
        old_block_of_the_library,
    ],
    "repeat_heads": [
        repeat_by_numpy,
        repeat_by_index,
        repeat_by_a_loop,
        repeat_by_broadcasting,
        repeat_by_a_matrix,
        repeat_by_kronecker,
        repeat_of_the_library,
    ],
    "repeat_heads_backward": [
        gather_by_reshape,
        gather_by_a_loop,
        gather_by_strides,
        gather_by_a_matrix,
        gather_by_splitting,
        gather_by_reduceat,
        gather_of_the_library,
    ],
    "to_half_split": [
        half_by_reshape,
        half_by_head,
        half_by_order,
        half_by_a_loop,
        half_by_transposing,
        half_by_sorting,
        half_of_the_library,
    ],
    "to_interleaved": [
        inter_by_reshape,
        inter_by_head,
        inter_by_order,
        inter_by_a_loop,
        inter_by_stacking,
        inter_as_meta_exports,
        inter_of_the_library,
    ],
    "missing_gains": [
        gains_by_writes,
        gains_in_a_set,
        gains_in_a_tuple,
        gains_by_the_nearer_of_two,
        gains_in_float64,
        gains_by_solving_for_the_gain,
    ],
    "next_token_logits": [
        run_step_by_step,
        run_only_the_last_row_at_the_end,
        run_recursively,
        run_by_stack_logits,
        run_with_one_hot_rows,
        run_two_alike,
        run_the_decoder_where_the_block_is_its_own,
        post_norm_written_out,
    ],
}
