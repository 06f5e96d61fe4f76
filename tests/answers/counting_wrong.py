"""Wrong answers, each with the mistake that must be named (None: rejected is enough)."""

import numpy as np

from answers import counting_right as right

# layer_parameters


def split_head_width(model):
    return right.layer_by_shapes(model | {"head_dim": model["d_model"] // model["n_heads"]})


def all_heads_have_keys(model):
    return right.layer_by_shapes(model | {"n_kv_heads": model["n_heads"]})


def llama_7b_formula(model):
    d = model["d_model"]
    return 4 * d * d, 3 * d * model["d_ff"]


def gpt_formula(model):
    return 4 * model["d_model"] ** 2, 8 * model["d_model"] ** 2


def no_biases(model):
    return right.layer_by_shapes(
        model | dict.fromkeys(("qkv_bias", "attn_out_bias", "mlp_bias"), False)
    )


def one_net(model):
    return right.layer_by_shapes(model | {"n_experts": 1})


def gated_always(model):
    return right.layer_by_shapes(model | {"mlp_matrices": 3})


def norm_in_attention(model):
    attention, net = right.layer_by_shapes(model)
    return attention + model["d_model"], net


def all_layers(model):
    return tuple(number * model["n_layers"] for number in right.layer_by_shapes(model))


def swapped_parts(model):
    return right.layer_by_shapes(model)[::-1]


def added_parts(model):
    return sum(right.layer_by_shapes(model))


# model_parameters


def head_is_always_there(model):
    return right.model_in_one_sum(model | {"tied_embeddings": False})


def head_is_never_there(model):
    return right.model_in_one_sum(model | {"tied_embeddings": True})


def without_final_norm(model):
    return right.model_in_one_sum(model) - model["norm_params_per_norm"]


def without_gains(model):
    return right.model_in_one_sum(model | {"norm_params_per_norm": 0})


def gains_only(model):
    size = min(model["norm_params_per_norm"], model["d_model"])
    return right.model_in_one_sum(model | {"norm_params_per_norm": size})


def without_positions(model):
    return right.model_in_one_sum(model | {"learned_positions": 0})


def without_layer_biases(model):
    flags = dict.fromkeys(("qkv_bias", "attn_out_bias", "mlp_bias"), False)
    return right.model_in_one_sum(model | flags)


def in_float32(model):
    return np.float32(right.model_in_one_sum(model))


def published(model):
    return model.get("total_params_published", 0)


def rounded_to_millions(model):
    return round(right.model_in_one_sum(model), -6)


def in_text(model):
    return f"{right.model_in_one_sum(model):,}"


def twelve_l_d_squared(model):
    return 12 * model["n_layers"] * model["d_model"] ** 2


def full_keys_in_model(model):
    return right.model_in_one_sum(model | {"n_kv_heads": model["n_heads"]})


def off_by_one(model):
    return right.model_in_one_sum(model) + 1


# token_flops_by_part


def macs(model, T):
    return tuple(number / 2 for number in right.flops_by_weights(model, T))


def causal(model, T):
    dense, attention = right.flops_by_weights(model, T)
    return dense, attention / 2


def causal_exactly(model, T):
    dense, attention = right.flops_by_weights(model, T)
    return dense, attention * (T + 1) / (2 * T)


def two_p(model, T):
    return 2 * right.model_in_one_sum(model), right.flops_by_weights(model, T)[1]


def six_p(model, T):
    return tuple(3 * number for number in right.flops_by_weights(model, T))


def tied_head_is_free(model, T):
    dense, attention = right.flops_by_weights(model, T)
    free = model["tied_embeddings"] * 2 * model["vocab_rows"] * model["d_model"]
    return dense - free, attention


def grouped_scores(model, T):
    dense, attention = right.flops_by_weights(model, T)
    return dense, attention * model["n_kv_heads"] // model["n_heads"]


def four_t_d(model, T):
    return right.flops_by_weights(model, T)[0], 4 * T * model["d_model"] * model["n_layers"]


def no_t_term(model, T):
    return right.flops_by_weights(model, T)[0], 0


def whole_context(model, T):
    return tuple(T * number for number in right.flops_by_weights(model, T))


# balance_context


def six_d(model, head="counted"):
    return 6 * model["d_model"]


def causal_balance(model, head="counted"):
    return 2 * right.balance_by_division(model, head)


def with_head(model, head="counted"):
    return right.balance_by_division(model)


def without_head(model, head="counted"):
    return right.balance_by_division(model, "left out")


def whole_balance(model, head="counted"):
    return int(right.balance_by_division(model, head))


def by_key_heads(model, head="counted"):
    return right.balance_by_division(model, head) * model["n_heads"] / model["n_kv_heads"]


# training_plan


def at_peak(days, chips, speed, utilisation, ratio=20.0):
    return right.plan_by_formula(days, chips, speed, 1.0, ratio)


def two_nd(days, chips, speed, utilisation, ratio=20.0):
    C, N, D = right.plan_by_formula(days, chips, speed, utilisation, ratio)
    return C, N * 3**0.5, D * 3**0.5


def with_optimiser(days, chips, speed, utilisation, ratio=20.0):
    C, N, D = right.plan_by_formula(days, chips, speed, utilisation, ratio)
    return C, N * 0.75**0.5, D * 0.75**0.5


def without_root(days, chips, speed, utilisation, ratio=20.0):
    C, _, _ = right.plan_by_formula(days, chips, speed, utilisation, ratio)
    return C, C / 6 / ratio, C / 6


def tokens_first(days, chips, speed, utilisation, ratio=20.0):
    C, N, D = right.plan_by_formula(days, chips, speed, utilisation, ratio)
    return C, D, N


def chinchilla_only(days, chips, speed, utilisation, ratio=20.0):
    return right.plan_by_formula(days, chips, speed, utilisation, 20.0)


def only_compute(days, chips, speed, utilisation, ratio=20.0):
    return right.plan_by_formula(days, chips, speed, utilisation, ratio)[0]


def counts_turned_round(model):
    d, K, h = model["d_model"], model["head_dim"], model["d_ff"]
    q, kv = K * model["n_heads"], K * model["n_kv_heads"]
    attention = 2 * d * (q + kv) + model["qkv_bias"] * (q + 2 * kv) + model["attn_out_bias"] * d
    n, experts = model["mlp_matrices"], model["n_experts"]
    net = experts * (n * d * h + model["mlp_bias"] * ((n - 1) * h + d))
    return net + d * experts * (experts > 1), attention


def balance_of_training(model, head="counted"):
    d, K, heads = model["d_model"], model["head_dim"], model["n_heads"]
    block = 2 * d * K * (heads + model["n_kv_heads"]) + model["mlp_matrices"] * d * model["d_ff"]
    weights = model["n_layers"] * block + (head == "counted") * model["vocab_rows"] * d
    return 6 * weights / (4 * model["n_layers"] * heads * K)


def plan_divided_after_the_root(days, chips, speed, used, tokens_per_parameter=20.0):
    C = days * 86_400 * chips * speed * used
    N = np.sqrt(C / 6) / tokens_per_parameter
    return C, N, tokens_per_parameter * N


WRONG = {
    "block_parameters": [
        (lambda d, h, net: 4 * d * d + 2 * d * h, "two_matrices"),
        (lambda d, h, net: 4 * d * d + 3 * d * h, "three_matrices"),
        (lambda d, h, net: 12 * d * d, "twelve_d_squared"),
        (lambda d, h, net: 16 * d * d, None),
        (lambda d, h, net: 3 * d * d + (2 + (net == "gated")) * d * h, "no_output_matrix"),
        (lambda d, h, net: (2 + (net == "gated")) * d * h, "net_alone"),
        (lambda d, h, net: right.block_by_formula(d, h, net) + 2 * d, "gains_counted"),
        (lambda d, h, net: right.block_by_formula(d, h, net) + 4 * d + 2 * h, None),
        (lambda d, h, net: right.block_by_formula(d, h, net) / d**2, None),
        (lambda d, h, net: str(right.block_by_formula(d, h, net)), None),
        (lambda d, h, net: np.float32(right.block_by_formula(d, h, net)) * (1 + 1e-6), None),
    ],
    "layer_parameters": [
        (split_head_width, "width_from_d"),
        (all_heads_have_keys, "full_key_heads"),
        (llama_7b_formula, "four_d_squared"),
        (gpt_formula, "four_d_squared"),
        (no_biases, "biases_forgotten"),
        (one_net, "one_expert"),
        (gated_always, "three_matrices"),
        (norm_in_attention, "off_by_a_part"),
        (all_layers, None),
        (swapped_parts, None),
        (added_parts, None),
        (lambda model: None, None),
        (counts_turned_round, "order"),
    ],
    "model_parameters": [
        (head_is_always_there, "tied_twice"),
        (head_is_never_there, "no_head"),
        (without_final_norm, "no_final_norm"),
        (without_gains, "no_norms"),
        (gains_only, "gains_without_biases"),
        (without_positions, "no_positions"),
        (without_layer_biases, "biases_of_layers_forgotten"),
        (full_keys_in_model, "full_key_heads"),
        (in_float32, "off_by_a_part"),
        (published, None),
        (rounded_to_millions, None),
        (in_text, None),
        (twelve_l_d_squared, None),
        (off_by_one, "off_by_a_part"),
    ],
    "token_flops_by_part": [
        (macs, "multiply_adds"),
        (causal, "half"),
        (causal_exactly, "under_the_mask"),
        (two_p, "all_parameters"),
        (six_p, "training"),
        (tied_head_is_free, "tied_head_free"),
        (grouped_scores, "key_heads"),
        (four_t_d, "width_d"),
        (no_t_term, "no_term"),
        (whole_context, "whole_sequence"),
        (lambda model, T: right.flops_by_weights(model, T)[::-1], None),
        (lambda model, T: sum(right.flops_by_weights(model, T)), None),
    ],
    "balance_context": [
        (six_d, "six_d"),
        (causal_balance, "half_the_term"),
        (with_head, "head_always"),
        (without_head, "head_never"),
        (whole_balance, "cut_off"),
        (by_key_heads, "key_heads"),
        (lambda model, head: 4608, None),
        (lambda model, head: (1, 2), None),
        (balance_of_training, "training_on_one_side"),
    ],
    "width_for_budget": [
        (lambda B, d, m, way: -(-8 * d // (3 * m)) * m, "eight_thirds"),
        (lambda B, d, m, way: right.width_by_integers(B, d, m, "up"), "always_up"),
        (lambda B, d, m, way: right.width_by_integers(B, d, m, "down"), "always_down"),
        (lambda B, d, m, way: right.width_by_integers(B + 4 * d * d, d, m, way),
         "attention_forgotten"),
        (lambda B, d, m, way: (B - 4 * d * d) / (3 * d), "a_fraction"),
        (lambda B, d, m, way: round((B - 4 * d * d) / (3 * d * m)) * m, "nearest"),
        (lambda B, d, m, way: right.width_by_integers(B, d, 256, way), "multiple_fixed"),
        (lambda B, d, m, way: 11_008, None),
        (lambda B, d, m, way: right.width_by_integers(B, d, m, way) + 1, None),
    ],
    "training_plan": [
        (at_peak, "peak"),
        (two_nd, "forward_only"),
        (with_optimiser, "a_fourth_pass"),
        (without_root, "no_root"),
        (tokens_first, "turned_round"),
        (chinchilla_only, "twenty_always"),
        (only_compute, None),
        (lambda *numbers: (1.0, 2.0, 3.0), None),
        (plan_divided_after_the_root, "ratio_outside_the_root"),
    ],
}  # fmt: skip
