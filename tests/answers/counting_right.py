"""Right answers that look different: every one of them must pass every claim."""

import math
from fractions import Fraction

import numpy as np

from transformer_block.config import ModelConfig
from transformer_block.counting import count_parameters
from transformer_block.flops import sequence_flops

# block_parameters


def block_by_formula(d, h, net="gated"):
    return 4 * d**2 + (3 if net == "gated" else 2) * d * h


def block_by_dict(d, h, net="gated"):
    return d * (4 * d + {"gated": 3, "classic": 2}[net] * h)


def block_by_arrays(d, h, net="gated"):
    sides = [(d, d)] * 4 + [(d, h)] * (1 + (net == "gated")) + [(h, d)]
    return sum(np.prod(side) for side in sides)


def block_by_branches(d, h, net="gated"):
    attention = 4 * d * d
    if net == "classic":
        return attention + 2 * d * h
    return attention + 3 * d * h


def block_in_floats(d, h, net="gated"):
    return float(d) * (4.0 * d) + (3.0 if net == "gated" else 2.0) * d * h


def block_by_einsum(d, h, net="gated"):
    return np.array([4, 2 + (net != "classic")]) @ np.array([d * d, d * h])


def block_in_a_list(d, h, net="gated"):
    print("counting", net)
    return [4 * d * d + (2 + (net == "gated")) * d * h]


# layer_parameters


def layer_by_shapes(model):
    d, h, K = (model[key] for key in ("d_model", "d_ff", "head_dim"))
    q, kv = model["n_heads"] * K, model["n_kv_heads"] * K
    shapes = [(d, q), (d, kv), (d, kv), (q, d)]
    biases = [model["qkv_bias"]] * 3 + [model["attn_out_bias"]]
    attention = sum(a * b + b * has for (a, b), has in zip(shapes, biases, strict=True))
    net = 0
    for _ in range(model["n_experts"]):
        for a, b in [(d, h)] * (model["mlp_matrices"] - 1) + [(h, d)]:
            net += a * b + (b if model["mlp_bias"] else 0)
    if model["n_experts"] > 1:
        net += model["n_experts"] * d
    return attention, net


def layer_by_the_library(model):
    words = dict.fromkeys(("model", "norm", "activation", "position"), "")
    parts = count_parameters(ModelConfig(**words, total_params_published=0, **model))
    names = "W_q", "W_k", "W_v", "W_o", "attention biases"
    both = sum(parts[n] for n in names), parts["net"] + parts["net biases"] + parts["router"]
    return tuple(number // model["n_layers"] for number in both)


def layer_by_heads(model):
    d, K = model["d_model"], model["head_dim"]
    attention = 0
    for _ in range(model["n_heads"]):
        attention += 2 * d * K + model["qkv_bias"] * K
    for _ in range(2 * model["n_kv_heads"]):
        attention += d * K + model["qkv_bias"] * K
    attention += model["attn_out_bias"] * d
    inner = (model["mlp_matrices"] - 1) * model["d_ff"]
    net = inner * d + model["d_ff"] * d + model["mlp_bias"] * (inner + d)
    return [attention, net * model["n_experts"] + d * model["n_experts"] * (model["n_experts"] > 1)]


def layer_with_extra_rows(model):
    """A bias is a row more, as if a one stood in front of every token."""
    d, q = model["d_model"], model["n_heads"] * model["head_dim"]
    rows, kv = d + model["qkv_bias"], model["n_kv_heads"] * model["head_dim"]
    attention = rows * (q + 2 * kv) + (q + model["attn_out_bias"]) * d
    h, more = model["d_ff"], int(model["mlp_bias"])
    net = (d + more) * h * (model["mlp_matrices"] - 1) + (h + more) * d
    experts = model["n_experts"]
    return attention, net if experts == 1 else experts * (net + d)


def layer_in_floats(model):
    return tuple(float(number) for number in layer_by_heads(model))


def layer_as_array(model):
    return np.array(layer_by_shapes(model), dtype=np.int64)[None].T.tolist()


# model_parameters


def model_in_one_sum(model):
    d, V = model["d_model"], model["vocab_rows"]
    layer = sum(layer_by_shapes(model)) + model["qk_norm_params_per_layer"]
    norms = model["n_layers"] * model["norms_per_layer"] + 1
    tables = 1 if model["tied_embeddings"] else 2
    return (
        model["n_layers"] * layer + norms * model["norm_params_per_norm"] + tables * V * d
        + model["learned_positions"] * d + V * model["lm_head_bias"]
    )  # fmt: skip


def model_by_the_library(model):
    words = dict.fromkeys(("model", "norm", "activation", "position"), "")
    return sum(count_parameters(ModelConfig(**words, total_params_published=0, **model)).values())


def model_in_a_loop(model):
    d = model["d_model"]
    total = d * (model["vocab_rows"] + model["learned_positions"])
    for _ in range(model["n_layers"]):
        for part in layer_with_extra_rows(model):
            total += part
        for _ in range(model["norms_per_layer"]):
            total += model["norm_params_per_norm"]
        total += model["qk_norm_params_per_layer"]
    total += model["norm_params_per_norm"]
    if not model["tied_embeddings"]:
        total += d * model["vocab_rows"]
    if model["lm_head_bias"]:
        total += model["vocab_rows"]
    return total


def model_in_floats(model):
    return float(model_in_one_sum(model))


def model_as_numpy_scalar(model):
    return np.float64(model_in_a_loop(model))


def model_from_the_back(model):
    V, d = model["vocab_rows"], model["d_model"]
    total = model["lm_head_bias"] * V + (1 - model["tied_embeddings"]) * V * d
    total += model["norm_params_per_norm"]
    layer = np.sum(layer_by_heads(model)) + model["qk_norm_params_per_layer"]
    total += model["n_layers"] * (layer + model["norms_per_layer"] * model["norm_params_per_norm"])
    return np.array(total + model["learned_positions"] * d + V * d)


# token_flops_by_part


def flops_by_weights(model, T):
    d, K, L = model["d_model"], model["head_dim"], model["n_layers"]
    weights = 2 * d * model["n_heads"] * K + 2 * d * model["n_kv_heads"] * K
    weights += model["mlp_matrices"] * d * model["d_ff"]
    return 2 * (weights * L + d * model["vocab_rows"]), 4 * T * K * model["n_heads"] * L


def flops_by_the_library(model, T):
    words = dict.fromkeys(("model", "norm", "activation", "position"), "")
    parts = sequence_flops(ModelConfig(**words, total_params_published=0, **model), T)
    attention = parts.pop("scores and mixing")
    return sum(parts.values()) / T, attention / T


def flops_by_products(model, T):
    """List the (rows, inner, columns) of all products of one token."""
    d, K, h = model["d_model"], model["head_dim"], model["d_ff"]
    q, kv = model["n_heads"] * K, model["n_kv_heads"] * K
    block = [(1, d, q), (1, d, kv), (1, d, kv), (1, q, d), (1, h, d)]
    block += [(1, d, h)] * (model["mlp_matrices"] - 1)
    mixing = [(1, K, T), (1, T, K)] * model["n_heads"]
    dense = block * model["n_layers"] + [(1, d, model["vocab_rows"])]
    return tuple(2 * sum(a * b * c for a, b, c in part) * times
                 for part, times in ((dense, 1), (mixing, model["n_layers"])))  # fmt: skip


def flops_from_the_whole_sequence(model, T):
    dense, one = flops_by_weights(model, T)
    return [dense * T // T, one * T / T]


def flops_from_parameters(model, T):
    """Take away from all parameters what is no matrix."""
    bare = model | dict.fromkeys(
        ("learned_positions", "qkv_bias", "attn_out_bias", "mlp_bias", "lm_head_bias",
         "norm_params_per_norm", "qk_norm_params_per_layer"), 0,
    ) | {"tied_embeddings": True}  # fmt: skip
    width = model["n_heads"] * model["head_dim"]
    return 2 * model_in_one_sum(bare), 2 * width * T * model["n_layers"] * 2


def flops_in_float64(model, T):
    return np.array(flops_by_weights(model, T), dtype=np.float64).tolist()


# balance_context


def balance_by_division(model, head="counted"):
    dense, _ = flops_by_weights(model, 1)
    if head != "counted":
        dense -= 2 * model["vocab_rows"] * model["d_model"]
    return dense / (4 * model["n_layers"] * model["n_heads"] * model["head_dim"])


def balance_by_fraction(model, head="counted"):
    dense, one = flops_by_products(model, 1)
    return float(Fraction(dense - 2 * (head == "left out") * model["vocab_rows"]
                          * model["d_model"], one))  # fmt: skip


def balance_by_line(model, head="counted"):
    """Two points of a line are enough."""
    (dense, first), (_, second) = flops_by_weights(model, 10), flops_by_weights(model, 20)
    if head == "left out":
        dense = dense - 2 * model["d_model"] * model["vocab_rows"]
    return 10 + 10 * (dense - first) / (second - first)


def balance_by_bisection(model, head="counted"):
    dense, one = flops_by_weights(model, 1)
    dense -= 2 * model["d_model"] * model["vocab_rows"] if head == "left out" else 0
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if one * middle < dense else (low, middle)
    return low


def balance_by_weights_per_width(model, head="counted"):
    width = 2 * model["n_heads"] * model["head_dim"] * model["n_layers"]
    weights = model["n_layers"] * model["d_model"] * (
        2 * model["head_dim"] * (model["n_heads"] + model["n_kv_heads"])
        + model["mlp_matrices"] * model["d_ff"]
    )  # fmt: skip
    extra = {"counted": model["d_model"] * model["vocab_rows"], "left out": 0}[head]
    return (weights + extra) / width


def balance_in_an_array(model, head="counted"):
    return np.array([balance_by_division(model, head)])


# width_for_budget


def width_by_integers(budget, d, multiple_of=256, rounding="up"):
    left, step = budget - 4 * d * d, 3 * d * multiple_of
    return multiple_of * (left // step if rounding == "down" else (left + step - 1) // step)


def width_by_search(budget, d, multiple_of=256, rounding="up"):
    h = 0
    while 4 * d * d + 3 * d * h < budget:
        h += multiple_of
    if rounding == "down" and 4 * d * d + 3 * d * h > budget:
        h -= multiple_of
    return h


def width_by_fractions(budget, d, multiple_of=256, rounding="up"):
    steps = Fraction(budget - 4 * d * d, 3 * d * multiple_of)
    return (math.ceil(steps) if rounding == "up" else math.floor(steps)) * multiple_of


def width_by_divmod(budget, d, multiple_of=256, rounding="up"):
    steps, rest = divmod(budget - 4 * d**2, 3 * d * multiple_of)
    return float((steps + (rest > 0 and rounding == "up")) * multiple_of)


def width_by_numpy(budget, d, multiple_of=256, rounding="up"):
    turn = {"up": np.ceil, "down": np.floor}[rounding]
    return turn(np.float64(budget - 4 * d * d) / (3 * d * multiple_of)) * multiple_of


def width_by_candidates(budget, d, multiple_of=256, rounding="up"):
    costs = {h: 4 * d * d + 3 * d * h for h in range(0, 40_000, multiple_of)}
    if rounding == "up":
        return min(h for h, cost in costs.items() if cost >= budget)
    return max(h for h, cost in costs.items() if cost <= budget)


# training_plan


def plan_by_formula(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = days * 86_400 * chips * flops_per_second * utilisation
    N = math.sqrt(C / (6 * tokens_per_parameter))
    return C, N, tokens_per_parameter * N


def plan_in_hours(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = chips * (3600 * flops_per_second) * (24 * days) * utilisation
    D = (C * tokens_per_parameter / 6) ** 0.5
    return [C, D / tokens_per_parameter, D]


def plan_by_tokens(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = utilisation * days * 24 * 60 * 60 * chips * flops_per_second
    N = np.sqrt(C / 6 / tokens_per_parameter)
    return C, N, C / (6 * N)


def plan_by_bisection(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = days * 86_400 * chips * flops_per_second * utilisation
    low, high = 1.0, C
    for _ in range(300):
        N = (low * high) ** 0.5
        low, high = (N, high) if 6 * N * N * tokens_per_parameter < C else (low, N)
    return C, N, N * tokens_per_parameter


def plan_in_whole_numbers(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C, N, D = plan_by_formula(days, chips, flops_per_second, utilisation, tokens_per_parameter)
    return int(C), round(N), round(D)


def plan_by_logarithms(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = np.prod([days, 86_400, chips, flops_per_second, utilisation])
    N = np.exp((np.log(C) - np.log(6 * tokens_per_parameter)) / 2)
    return np.array([C, N, tokens_per_parameter * N]).tolist()


RIGHT = {
    "block_parameters": [
        block_by_formula, block_by_dict, block_by_arrays, block_by_branches, block_in_floats,
        block_by_einsum, block_in_a_list,
    ],
    "layer_parameters": [
        layer_by_shapes, layer_by_the_library, layer_by_heads, layer_with_extra_rows,
        layer_in_floats, layer_as_array,
    ],
    "model_parameters": [
        model_in_one_sum, model_by_the_library, model_in_a_loop, model_in_floats,
        model_as_numpy_scalar, model_from_the_back,
    ],
    "token_flops_by_part": [
        flops_by_weights, flops_by_the_library, flops_by_products, flops_from_the_whole_sequence,
        flops_from_parameters, flops_in_float64,
    ],
    "balance_context": [
        balance_by_division, balance_by_fraction, balance_by_line, balance_by_bisection,
        balance_by_weights_per_width, balance_in_an_array,
    ],
    "width_for_budget": [
        width_by_integers, width_by_search, width_by_fractions, width_by_divmod, width_by_numpy,
        width_by_candidates,
    ],
    "training_plan": [
        plan_by_formula, plan_in_hours, plan_by_tokens, plan_by_bisection, plan_in_whole_numbers,
        plan_by_logarithms,
    ],
}  # fmt: skip
