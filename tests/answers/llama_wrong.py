"""Wrong answers as learners write them, each with the name of the mistake it must be told.

They are written out in full, apart from the catalogue in `grader.checks`, so that the catalogue
is tested by code of another hand. A mistake of ``None`` must be rejected, by whatever sentence.
"""

import math

import numpy as np

from transformer_block.attention import causal_attention_forward, causal_self_attention_forward
from transformer_block.block import transformer_block_forward
from transformer_block.decoder import decoder_forward
from transformer_block.gelu import gelu
from transformer_block.heads import merge_heads, split_heads
from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.rope import rope_forward
from transformer_block.swiglu import swiglu_forward

# gpt2_block


def old_attention(rows, p, n_heads):
    q, k, v = (split_heads(rows @ p["W_" + c] + p["b_" + c], n_heads) for c in "qkv")
    return merge_heads(causal_attention_forward(q, k, v)[0]) @ p["W_o"] + p["b_o"]


def old_net(rows, p):
    return gelu(rows @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]


def old_norm(rows, p, half, eps):
    return layernorm_forward(rows, p[half], p[half + "_bias"], eps)[0]


def old_block_reusing_the_name(x, params, n_heads, eps=1e-5):
    x = old_norm(x, params, "attn_norm", eps)
    x = x + old_attention(x, params, n_heads)
    x = old_norm(x, params, "ffn_norm", eps)
    return x + old_net(x, params)


def old_block_as_in_2017(x, params, n_heads, eps=1e-5):
    x = old_norm(x + old_attention(x, params, n_heads), params, "attn_norm", eps)
    return old_norm(x + old_net(x, params), params, "ffn_norm", eps)


def old_block_in_parallel(x, params, n_heads, eps=1e-5):
    a = old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    return x + a + old_net(old_norm(x, params, "ffn_norm", eps), params)


def old_block_with_rmsnorm(x, params, n_heads, eps=1e-5):
    def norm(rows, half):
        return rmsnorm_forward(rows, params[half], eps)[0] + params[half + "_bias"]

    x = x + old_attention(norm(x, "attn_norm"), params, n_heads)
    return x + old_net(norm(x, "ffn_norm"), params)


def old_block_without_any_bias(x, params, n_heads, eps=1e-5):
    n = old_norm(x, params, "attn_norm", eps)
    q, k, v = (split_heads(n @ params["W_" + c], n_heads) for c in "qkv")
    x = x + merge_heads(causal_attention_forward(q, k, v)[0]) @ params["W_o"]
    return x + gelu(old_norm(x, params, "ffn_norm", eps) @ params["W_1"]) @ params["W_2"]


def old_block_without_query_biases(x, params, n_heads, eps=1e-5):
    n = old_norm(x, params, "attn_norm", eps)
    q, k, v = (split_heads(n @ params["W_" + c], n_heads) for c in "qkv")
    x = x + merge_heads(causal_attention_forward(q, k, v)[0]) @ params["W_o"] + params["b_o"]
    return x + old_net(old_norm(x, params, "ffn_norm", eps), params)


def old_block_without_written_biases(x, params, n_heads, eps=1e-5):
    p = params | {"b_o": np.zeros_like(params["b_o"]), "b_2": np.zeros_like(params["b_2"])}
    x = x + old_attention(old_norm(x, p, "attn_norm", eps), p, n_heads)
    return x + old_net(old_norm(x, p, "ffn_norm", eps), p)


def old_block_carrying_the_first_norm(x, params, n_heads, eps=1e-5):
    x = old_norm(x, params, "attn_norm", eps)
    x = x + old_attention(x, params, n_heads)
    return x + old_net(old_norm(x, params, "ffn_norm", eps), params)


def old_block_carrying_the_second_norm(x, params, n_heads, eps=1e-5):
    x = x + old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    x = old_norm(x, params, "ffn_norm", eps)
    return x + old_net(x, params)


def old_block_with_rope(x, params, n_heads, eps=1e-5):
    n = old_norm(x, params, "attn_norm", eps)
    q, k, v = (split_heads(n @ params["W_" + c] + params["b_" + c], n_heads) for c in "qkv")
    mixed, _ = causal_attention_forward(rope_forward(q)[0], rope_forward(k)[0], v)
    x = x + merge_heads(mixed) @ params["W_o"] + params["b_o"]
    return x + old_net(old_norm(x, params, "ffn_norm", eps), params)


def old_block_with_silu(x, params, n_heads, eps=1e-5):
    x = x + old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    wide = old_norm(x, params, "ffn_norm", eps) @ params["W_1"] + params["b_1"]
    return x + wide / (1 + np.exp(-wide)) @ params["W_2"] + params["b_2"]


def old_block_with_its_own_eps(x, params, n_heads, eps=1e-5):
    x = x + old_attention(old_norm(x, params, "attn_norm", 1e-5), params, n_heads)
    return x + old_net(old_norm(x, params, "ffn_norm", 1e-5), params)


def old_block_with_one_norm(x, params, n_heads, eps=1e-5):
    x = x + old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    return x + old_net(old_norm(x, params, "attn_norm", eps), params)


def old_block_writing_into_x(x, params, n_heads, eps=1e-5):
    x += old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    x += old_net(old_norm(x, params, "ffn_norm", eps), params)
    return x


def old_block_that_returns_the_write(x, params, n_heads, eps=1e-5):
    u = x + old_attention(old_norm(x, params, "attn_norm", eps), params, n_heads)
    return old_net(old_norm(u, params, "ffn_norm", eps), params)


# repeat_heads


def repeat_tiled(heads, n_heads):
    times = [1] * heads.ndim
    times[-3] = n_heads // heads.shape[-3]
    return np.tile(heads, times)


def repeat_by_modulo(heads, n_heads):
    return np.stack([heads[..., h % heads.shape[-3], :, :] for h in range(n_heads)], axis=-3)


def repeat_the_first_axis(heads, n_heads):
    return np.repeat(heads, n_heads // heads.shape[0], axis=0)


def repeat_the_tokens(heads, n_heads):
    *leading, H_kv, S, K = heads.shape
    return np.repeat(heads, n_heads // H_kv, axis=-2).reshape(*leading, n_heads, S, K)


def repeat_as_often_as_there_are_heads(heads, n_heads):
    return np.repeat(heads, heads.shape[-3], axis=-3)


def repeat_the_first(heads, n_heads):
    return np.repeat(heads[..., :1, :, :], n_heads, axis=-3)


def repeat_nothing(heads, n_heads):
    return heads


# repeat_heads_backward


def gather_the_mean(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, n_kv_heads, H // n_kv_heads, S, K).mean(axis=-3)


def gather_tiled(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, H // n_kv_heads, n_kv_heads, S, K).sum(axis=-4)


def gather_with_overwriting(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    dheads = np.zeros((*leading, n_kv_heads, S, K), drepeated.dtype)
    group = np.arange(H) // (H // n_kv_heads)
    for h in range(H):
        dheads[..., group[h], :, :] = drepeated[..., h, :, :]
    return dheads


def gather_with_fancy_addition(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    dheads = np.zeros((*leading, n_kv_heads, S, K), drepeated.dtype)
    dheads[..., np.arange(H) // (H // n_kv_heads), :, :] += drepeated
    return dheads


def gather_the_first(drepeated, n_kv_heads):
    return drepeated[..., :: drepeated.shape[-3] // n_kv_heads, :, :]


def gather_without_leading_axes(drepeated, n_kv_heads):
    H, S, K = drepeated.shape[-3:]
    return drepeated.reshape(n_kv_heads, -1, S, K).sum(axis=1)


def gather_the_other_axis(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, n_kv_heads, H // n_kv_heads, S, K).sum(axis=-4)


# to_half_split and to_interleaved


def half_the_other_way(W, n_heads):
    d, width = W.shape
    return W.reshape(d, n_heads, 2, -1).swapaxes(-1, -2).reshape(d, width)


def half_across_heads(W, n_heads):
    return np.concatenate([W[:, ::2], W[:, 1::2]], axis=1)


def half_of_rows(W, n_heads):
    return half_by_columns(W.T, n_heads).T if W.shape[0] == W.shape[1] else W


def half_by_columns(W, n_heads):
    d, width = W.shape
    return W.reshape(d, n_heads, -1, 2).swapaxes(-1, -2).reshape(d, width)


def half_odd_first(W, n_heads):
    heads = np.split(W, n_heads, axis=1)
    return np.concatenate([part for h in heads for part in (h[:, 1::2], h[:, ::2])], axis=1)


def half_by_rolling(W, n_heads):
    heads = W.reshape(len(W), n_heads, -1)
    return np.roll(heads, heads.shape[-1] // 2, axis=-1).reshape(W.shape)


def half_with_a_head_inside(W, n_heads):
    wide = W.reshape(len(W), -1, n_heads)
    return np.concatenate([wide[:, ::2], wide[:, 1::2]], axis=1).reshape(W.shape)


def half_in_place(W, n_heads):
    W[...] = half_by_columns(W, n_heads)
    return W


def inter_the_other_way(W, n_heads):
    return half_by_columns(W, n_heads)


def inter_across_heads(W, n_heads):
    return half_the_other_way(W, 1)


def inter_nothing(W, n_heads):
    return W


def inter_second_first(W, n_heads):
    heads = W.reshape(len(W), n_heads, -1)
    first, second = np.split(heads, 2, axis=-1)
    return np.stack([second, first], axis=-1).reshape(W.shape)


def inter_in_float64(W, n_heads):
    return half_the_other_way(W, n_heads).astype(np.float64)


def inter_by_neighbours(W, n_heads):
    return W[:, np.arange(W.shape[1]) ^ 1]


# missing_gains


def expected_writes(params, stream, n_heads, rope_base, eps):
    for k, block in enumerate(params["blocks"]):
        n, _ = rmsnorm_forward(stream[2 * k], block["attn_norm"], eps)
        attended = causal_self_attention_forward(n, block, n_heads, rope_base)[0]
        yield f"blocks.{k}.attn_norm", 2 * k, attended
        n, _ = rmsnorm_forward(stream[2 * k + 1], block["ffn_norm"], eps)
        yield f"blocks.{k}.ffn_norm", 2 * k + 1, swiglu_forward(n, block)[0]


def gains_of_the_blocks_alone(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return [
        name
        for name, i, write in expected_writes(params, stream, n_heads, rope_base, eps)
        if not np.allclose(stream[i + 1] - stream[i], write, rtol=1e-4, atol=1e-4)
    ]


def final_gain_lost(params, stream, logits, eps):
    out, _ = rmsnorm_forward(stream[-1], params["final_norm"], eps)
    return not np.allclose(out @ params["embedding"].T, logits, rtol=1e-4, atol=1e-4)


def gains_all(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    names = gains_of_the_blocks_alone(params, stream, logits, n_heads, rope_base, eps)
    return names + ["final_norm"] * final_gain_lost(params, stream, logits, eps)


def gains_the_first_alone(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return gains_all(params, stream, logits, n_heads, rope_base, eps)[:1]


def gains_from_an_own_run(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    names, x = [], stream[0]
    for k, block in enumerate(params["blocks"]):
        x, (_, _, u, _, _) = transformer_block_forward(x, block, n_heads, rope_base, eps)
        for half, mine, place in (("attn_norm", u, 2 * k + 1), ("ffn_norm", x, 2 * k + 2)):
            if not np.allclose(mine, stream[place], rtol=1e-4, atol=1e-4):
                names.append(f"blocks.{k}.{half}")
    return names + ["final_norm"] * final_gain_lost(params, stream, logits, eps)


def gains_with_an_eps_of_its_own(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return gains_all(params, stream, logits, n_heads)


def gains_with_a_bound_of_a_tenth(params, stream, logits, n_heads, rope_base=1e4, eps=1e-5):
    names = [
        name
        for name, i, write in expected_writes(params, stream, n_heads, rope_base, eps)
        if np.abs(stream[i + 1] - stream[i] - write).max() > 0.1 * np.abs(write).max()
    ]
    return names + ["final_norm"] * final_gain_lost(params, stream, logits, eps)


def gains_with_no_rounding(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    names = [
        name
        for name, i, write in expected_writes(params, stream, n_heads, rope_base, eps)
        if np.any(stream[i + 1] - stream[i] != write)
    ]
    return names + ["final_norm"] * final_gain_lost(params, stream, logits, eps)


def gains_counted_from_one(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    names = gains_all(params, stream, logits, n_heads, rope_base, eps)
    return [n if n == "final_norm" else f"blocks.{int(n.split('.')[1]) + 1}" for n in names]


def gains_as_one_name(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return (gains_all(params, stream, logits, n_heads, rope_base, eps) or [""])[0]


def gains_none(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    return []


# next_token_logits


def through(ids, params, block_forward, n_heads, rope_base, eps):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
    return x


def run_without_the_final_norm(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = through(ids, params, block_forward, n_heads, rope_base, eps)
    return x[-1] @ params.get("head", params["embedding"]).T


def run_with_the_library_s_block(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    return decoder_forward(ids, params, n_heads, rope_base, eps)[0][-1]


def run_for_the_first_position(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = through(ids, params, block_forward, n_heads, rope_base, eps)
    x, _ = rmsnorm_forward(x, params["final_norm"], eps)
    return (x @ params.get("head", params["embedding"]).T)[0]


def run_for_every_position(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = through(ids, params, block_forward, n_heads, rope_base, eps)
    x, _ = rmsnorm_forward(x, params["final_norm"], eps)
    return x @ params.get("head", params["embedding"]).T


def run_always_tied(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    x = through(ids, params, block_forward, n_heads, rope_base, eps)
    return rmsnorm_forward(x[-1], params["final_norm"], eps)[0] @ params["embedding"].T


def run_that_leaves_the_loop_at_once(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
        if block is params["blocks"][0]:
            break
    x, _ = rmsnorm_forward(x, params["final_norm"], eps)
    return x[-1] @ params.get("head", params["embedding"]).T


def run_deaf_to_the_base(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    x = through(ids, params, block_forward, n_heads, 10_000.0, eps)
    out = rmsnorm_forward(x[-1], params["final_norm"], eps)[0]
    return out @ params.get("head", params["embedding"]).T


def run_with_eps_for_the_base(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads)
    out = rmsnorm_forward(x[-1], params["final_norm"], eps)[0]
    return out @ params.get("head", params["embedding"]).T


def run_to_the_likeliest(ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5):
    return np.argmax(run_always_tied(ids, params, block_forward, n_heads, rope_base, eps))


def run_with_a_scaled_embedding(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = params["embedding"][ids] * params["embedding"].shape[1] ** 0.5
    for block in params["blocks"]:
        x, _ = block_forward(x, block, n_heads, rope_base, eps)
    out = rmsnorm_forward(x[-1], params["final_norm"], eps)[0]
    return out @ params.get("head", params["embedding"]).T


def exact_gelu(t):
    return t / 2 * (1 + np.vectorize(math.erf)(t / math.sqrt(2)))


def old_block_with_exact_gelu(x, params, n_heads, eps=1e-5):
    p = params
    u = x + old_attention(
        layernorm_forward(x, p["attn_norm"], p["attn_norm_bias"], eps)[0], p, n_heads
    )
    m = layernorm_forward(u, p["ffn_norm"], p["ffn_norm_bias"], eps)[0]
    return (u + exact_gelu(m @ p["W_1"] + p["b_1"]) @ p["W_2"] + p["b_2"]).astype(x.dtype)


def logits_of_doubled_streams(ids, params, block_forward, n_heads, rope_base=1e4, eps=1e-5):
    x = params["embedding"][ids]
    for block in params["blocks"]:
        x = x + block_forward(x, block, n_heads, rope_base, eps)[0]
    out, _ = rmsnorm_forward(x[-1], params["final_norm"], eps)
    return params.get("head", params["embedding"]) @ out


WRONG = {
    "gpt2_block": [
        (old_block_reusing_the_name, "carried"),
        (old_block_as_in_2017, "post"),
        (old_block_in_parallel, "parallel"),
        (old_block_with_rmsnorm, "rms"),
        (old_block_without_any_bias, None),
        (old_block_without_query_biases, "projection_biases_missing"),
        (old_block_without_written_biases, "written_biases_missing"),
        (old_block_carrying_the_first_norm, "first_carried"),
        (old_block_carrying_the_second_norm, "second_carried"),
        (old_block_with_rope, "rope"),
        (old_block_with_silu, "silu"),
        (old_block_with_its_own_eps, "eps_ignored"),
        (old_block_with_one_norm, "one_norm_twice"),
        (old_block_writing_into_x, "writes_into_arguments"),
        (old_block_that_returns_the_write, "second_add_lost"),
        (old_block_with_exact_gelu, "exact_gelu"),
    ],
    "repeat_heads": [
        (repeat_tiled, "tiled"),
        (repeat_by_modulo, "tiled"),
        (repeat_the_first_axis, None),
        (repeat_the_tokens, "tokens_repeated"),
        (repeat_as_often_as_there_are_heads, "shape"),
        (repeat_the_first, "first_for_all"),
        (repeat_nothing, "left_alone"),
    ],
    "repeat_heads_backward": [
        (gather_the_mean, "averaged"),
        (gather_tiled, "summed_as_tiled"),
        (gather_with_overwriting, "last_copy"),
        (gather_with_fancy_addition, "last_copy"),
        (gather_the_first, "one_copy"),
        (gather_without_leading_axes, None),
        (gather_the_other_axis, None),
    ],
    "to_half_split": [
        (half_the_other_way, "other_direction"),
        (half_across_heads, "as_one_head"),
        (half_of_rows, None),
        (half_odd_first, "second_first"),
        (half_by_rolling, "halves_swapped"),
        (half_with_a_head_inside, "head_inside"),
        (half_in_place, "writes_into_arguments"),
    ],
    "to_interleaved": [
        (inter_the_other_way, "other_direction"),
        (inter_across_heads, "as_one_head"),
        (inter_nothing, "unchanged"),
        (inter_second_first, "second_first"),
        (inter_in_float64, "dtype_leaks"),
        (inter_by_neighbours, "neighbours_swapped"),
    ],
    "missing_gains": [
        (gains_of_the_blocks_alone, "missed"),
        (gains_the_first_alone, "missed"),
        (gains_from_an_own_run, "false_alarm"),
        (gains_with_an_eps_of_its_own, "false_alarm"),
        (gains_with_a_bound_of_a_tenth, "missed"),
        (gains_with_no_rounding, "false_alarm"),
        (gains_counted_from_one, None),
        (gains_as_one_name, None),
        (gains_none, "missed"),
    ],
    "next_token_logits": [
        (run_without_the_final_norm, "no_final_norm"),
        (run_with_the_library_s_block, "library_block"),
        (run_for_the_first_position, "first_position"),
        (run_for_every_position, "shape"),
        (run_always_tied, "head_ignored"),
        (run_that_leaves_the_loop_at_once, "only_first_block"),
        (run_deaf_to_the_base, "base_ignored"),
        (run_with_eps_for_the_base, None),
        (run_to_the_likeliest, "shape"),
        (run_with_a_scaled_embedding, "scaled"),
        (logits_of_doubled_streams, "residual_again"),
    ],
}
