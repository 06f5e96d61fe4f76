# %% block_parameters
def block_parameters(d, h, net="gated"):
    """The arrays themselves, as shapes."""
    shapes = 4 * [(d, d)] + {"gated": 2, "classic": 1}[net] * [(d, h)] + [(h, d)]
    return float(sum(rows * columns for rows, columns in shapes))


# %% layer_parameters
def layer_parameters(model):
    """Every bias is one row more."""
    d, h, K = model["d_model"], model["d_ff"], model["head_dim"]
    attention = 0
    for heads in (model["n_heads"], model["n_kv_heads"], model["n_kv_heads"]):
        attention += (d + model["qkv_bias"]) * heads * K
    attention += (model["n_heads"] * K + model["attn_out_bias"]) * d
    inner = (d + model["mlp_bias"]) * h * (model["mlp_matrices"] - 1)
    net = inner + (h + model["mlp_bias"]) * d
    routed = model["n_experts"] > 1
    return [attention, model["n_experts"] * (net + routed * d)]


# %% model_parameters
def model_parameters(model):
    print("counting layer by layer")
    d, V = model["d_model"], model["vocab_rows"]
    total = 0
    for _ in range(model["n_layers"]):
        total += sum(layer_parameters(model)) + model["qk_norm_params_per_layer"]
        total += model["norms_per_layer"] * model["norm_params_per_norm"]
    tables = [V, model["learned_positions"], V * (not model["tied_embeddings"])]
    return float(total + d * sum(tables) + model["norm_params_per_norm"] + V * model["lm_head_bias"])


# %% token_flops_by_part
def token_flops_by_part(model, T):
    """The matrices are what is left of a model without biases, norms and positions."""
    nothing = ["qkv_bias", "attn_out_bias", "mlp_bias", "lm_head_bias", "learned_positions",
               "norm_params_per_norm", "qk_norm_params_per_layer"]
    bare = {**model, **dict.fromkeys(nothing, 0), "tied_embeddings": True}
    multiply_adds = 2 * T * model["n_heads"] * model["head_dim"]
    return 2 * model_parameters(bare), 2 * multiply_adds * model["n_layers"]


# %% balance_context
def balance_context(model, head="counted"):
    """Where the line of the T term reaches the level of the matrices."""
    dense, at_1000 = token_flops_by_part(model, 1000)
    if head == "left out":
        dense = token_flops_by_part({**model, "vocab_rows": 0}, 1000)[0]
    return 1000 * dense / at_1000


# %% width_for_budget
def width_for_budget(budget, d, multiple_of=256, rounding="up"):
    h = 0
    while block_parameters(d, h + multiple_of) <= budget:
        h += multiple_of
    fits = block_parameters(d, h) == budget or rounding == "down"
    return h if fits else h + multiple_of


# %% training_plan
def training_plan(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = chips * flops_per_second * utilisation * days * 24 * 60 * 60
    D = (C * tokens_per_parameter / 6) ** 0.5
    return int(C), D / tokens_per_parameter, D
