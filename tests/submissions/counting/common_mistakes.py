# %% block_parameters
def block_parameters(d, h, net="gated"):
    """The formula of GPT-2, whatever the net."""
    return 4 * d * d + 2 * d * h


# %% layer_parameters
def layer_parameters(model):
    """Full key heads of width d / H, and no bias."""
    d = model["d_model"]
    return 4 * d * d, model["mlp_matrices"] * d * model["d_ff"]


# %% model_parameters
def model_parameters(model):
    """The tied head is counted again."""
    d, V = model["d_model"], model["vocab_rows"]
    norms = (2 * model["n_layers"] + 1) * d
    return 2 * V * d + model["n_layers"] * sum(layer_parameters(model)) + norms


# %% token_flops_by_part
def token_flops_by_part(model, T):
    """Multiply-adds, with the right T term."""
    d, L, K = model["d_model"], model["n_layers"], model["head_dim"]
    block = 2 * d * K * (model["n_heads"] + model["n_kv_heads"])
    block += model["mlp_matrices"] * d * model["d_ff"]
    return L * block + model["vocab_rows"] * d, 4 * T * L * model["n_heads"] * K


# %% balance_context
def balance_context(model, head="counted"):
    return 6 * model["d_model"]


# %% width_for_budget
def width_for_budget(budget, d, multiple_of=256, rounding="up"):
    return -(-8 * d // (3 * multiple_of)) * multiple_of


# %% training_plan
def training_plan(days, chips, flops_per_second, utilisation, tokens_per_parameter=20.0):
    """A forward pass, two gradients and the optimiser, each 2ND."""
    C = days * 86400 * chips * flops_per_second * utilisation
    N = (C / (8 * tokens_per_parameter)) ** 0.5
    return C, N, tokens_per_parameter * N
