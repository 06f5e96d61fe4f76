# %% block_parameters
def block_parameters(d, h, net="gated"):
    matrices = 3 if net == "gated" else 2
    return 4 * d * d + matrices * d * h


# %% after block_parameters
print(block_parameters(4096, 11008) * 32)


# %% layer_parameters
def layer_parameters(model):
    d, h, K = model["d_model"], model["d_ff"], model["head_dim"]
    q_width, kv_width = model["n_heads"] * K, model["n_kv_heads"] * K
    attention = d * q_width + 2 * d * kv_width + q_width * d
    if model["qkv_bias"]:
        attention += q_width + 2 * kv_width
    if model["attn_out_bias"]:
        attention += d
    net = model["mlp_matrices"] * d * h
    if model["mlp_bias"]:
        net += (model["mlp_matrices"] - 1) * h + d
    if model["n_experts"] > 1:
        net = model["n_experts"] * (net + d)
    return attention, net


# %% model_parameters
def model_parameters(model):
    d, V = model["d_model"], model["vocab_rows"]
    attention, net = layer_parameters(model)
    norms = model["norms_per_layer"] * model["norm_params_per_norm"]
    layer = attention + net + norms + model["qk_norm_params_per_layer"]
    total = V * d + model["learned_positions"] * d
    total += model["n_layers"] * layer + model["norm_params_per_norm"]
    if not model["tied_embeddings"]:
        total += V * d
    if model["lm_head_bias"]:
        total += V
    return total


# %% token_flops_by_part
def token_flops_by_part(model, T):
    d, L, K = model["d_model"], model["n_layers"], model["head_dim"]
    projections = 2 * d * model["n_heads"] * K + 2 * d * model["n_kv_heads"] * K
    net = model["mlp_matrices"] * d * model["d_ff"]
    dense = 2 * (L * (projections + net) + model["vocab_rows"] * d)
    return dense, 4 * T * L * model["n_heads"] * K


# %% balance_context
def balance_context(model, head="counted"):
    dense, one_key = token_flops_by_part(model, 1)
    if head == "left out":
        dense -= 2 * model["vocab_rows"] * model["d_model"]
    return dense / one_key


# %% width_for_budget
def width_for_budget(budget, d, multiple_of=256, rounding="up"):
    share, step = budget - 4 * d * d, 3 * d * multiple_of
    steps = share // step if rounding == "down" else -(-share // step)
    return steps * multiple_of


# %% training_plan
def training_plan(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    C = days * 86400 * chips * flops_per_second * utilisation
    N = (C / (6 * tokens_per_parameter)) ** 0.5
    return C, N, tokens_per_parameter * N


# %% [markdown] six_in_words
# The optimiser is not in it. Forward is a multiplication and an addition for each weight and token, 2.
# Backward makes two gradients for each product, 4. The two papers differ by the head: 84.9 million
# weights without it, 123.5 with it. At a long context the T term is missing, and so is the share of
# their speed that the machines reach.
