"""Wrong counts of one layer, each with the question that finds it."""

from grader.checks.counting.layer_parts import layer
from grader.checks.engine.exercise import Mistake


def _sizes(model):
    """Return d and the widths of all query heads and of all key heads side by side."""
    K = model["head_dim"]
    return model["d_model"], model["n_heads"] * K, model["n_kv_heads"] * K


def _weights(formula):
    """Count wrong matrices of attention; the biases stay right."""

    def outputs(model):
        d, q, kv = _sizes(model)
        right = 2 * d * (q + kv)
        return {"attention": layer(model)["attention"] - right + formula(d, q, kv, model)}

    return outputs


def _added(formula):
    """Count wrong biases of attention; the matrices stay right."""

    def outputs(model):
        d, q, kv = _sizes(model)
        return {"attention": 2 * d * (q + kv) + formula(d, q, kv, model)}

    return outputs


def _nets(formula):
    """Count a wrong net."""
    return lambda model: {
        "net": formula(model["d_model"], model["d_ff"], model["mlp_matrices"], model)
    }


def _of_nets(d, m, one, added):
    """Add biases to one net, then put all experts and their router side by side."""
    experts = m["n_experts"]
    return experts * (one + added * m["mlp_bias"]) + d * experts * (experts > 1)


MISTAKES = (
    Mistake(
        "full_key_heads",
        "How many key and value heads has this model? How wide are W_k and W_v then?",
        _weights(lambda d, q, kv, m: 4 * d * q),
    ),
    Mistake(
        "width_from_d",
        "Is the width of a head d / H here? Which entry says it?",
        _weights(lambda d, q, kv, m: 2 * d * d * (1 + m["n_kv_heads"] / m["n_heads"])),
    ),
    Mistake(
        "four_d_squared",
        "You count four squares. What does the model say about heads and their width?",
        _weights(lambda d, q, kv, m: 4 * d * d),
    ),
    Mistake(
        "all_grouped",
        "Which of the four matrices are grouped? Do queries share heads too?",
        _weights(lambda d, q, kv, m: 4 * d * kv),
    ),
    Mistake(
        "output_grouped",
        "How wide is what W_o reads: is there one head for each query head, or for each key?",
        _weights(lambda d, q, kv, m: d * (q + 3 * kv)),
    ),
    Mistake(
        "output_square",
        "How many rows has W_o? Is what it reads as wide as the stream?",
        _weights(lambda d, q, kv, m: d * (q + 2 * kv + d)),
    ),
    Mistake(
        "no_output_matrix",
        "What comes after the heads have been put side by side?",
        _weights(lambda d, q, kv, m: d * (q + 2 * kv)),
    ),
    Mistake(
        "keys_without_values",
        "Keys and values are grouped alike. Do you count a matrix for each of the two?",
        _weights(lambda d, q, kv, m: d * (2 * q + kv)),
    ),
    Mistake(
        "times_heads",
        "Is a head a matrix of its own beside the others, or some columns of one?",
        _weights(lambda d, q, kv, m: 2 * d * (q + kv) * m["n_heads"]),
    ),
    Mistake(
        "one_head",
        "How many heads stand side by side in W_q?",
        _weights(lambda d, q, kv, m: 4 * d * m["head_dim"]),
    ),
    Mistake(
        "heads_without_width",
        "How many columns of W_q belong to one head?",
        _weights(lambda d, q, kv, m: 2 * d * (m["n_heads"] + m["n_kv_heads"])),
    ),
    Mistake(
        "biases_forgotten",
        "Does this model add something after its four matrices?",
        _added(lambda d, q, kv, m: 0),
    ),
    Mistake(
        "biases_always",
        "Has this model a bias after each of its matrices? Which entries say so?",
        _added(lambda d, q, kv, m: q + 2 * kv + d),
    ),
    Mistake(
        "biases_of_full_heads",
        "How wide are k and v? How long is a bias that is added to them?",
        _added(lambda d, q, kv, m: m["qkv_bias"] * 3 * q + m["attn_out_bias"] * d),
    ),
    Mistake(
        "biases_by_rows",
        "Is a bias as long as what goes into its matrix, or as what comes out?",
        _added(lambda d, q, kv, m: m["qkv_bias"] * 3 * d + m["attn_out_bias"] * q),
    ),
    Mistake(
        "one_flag",
        "Two entries speak of the biases of attention. Which one is about W_o?",
        _added(lambda d, q, kv, m: m["qkv_bias"] * (q + 2 * kv + d)),
    ),
    Mistake(
        "output_bias_forgotten",
        "After which of the four matrices do you count no bias?",
        _added(lambda d, q, kv, m: m["qkv_bias"] * (q + 2 * kv)),
    ),
    Mistake(
        "only_the_output_bias",
        "Can the first three matrices have biases too? Which entry says so?",
        _added(lambda d, q, kv, m: m["attn_out_bias"] * d),
    ),
    Mistake(
        "query_bias_only",
        "Which of q, k and v get a bias?",
        _added(lambda d, q, kv, m: m["qkv_bias"] * q + m["attn_out_bias"] * d),
    ),
    Mistake(
        "two_matrices",
        "How many matrices has the net of this model? Which entry says it?",
        _nets(lambda d, h, n, m: _of_nets(d, m, 2 * d * h, h + d)),
    ),
    Mistake(
        "three_matrices",
        "Is the net of this model gated? Which entry says how many matrices it has?",
        _nets(lambda d, h, n, m: _of_nets(d, m, 3 * d * h, 2 * h + d)),
    ),
    Mistake(
        "net_of_width_four_d",
        "Which entry gives the width of the net? Is it always 4d?",
        _nets(lambda d, h, n, m: _of_nets(d, m, 4 * n * d * d, 4 * (n - 1) * d + d)),
    ),
    Mistake(
        "net_biases_forgotten",
        "Does the net of this model add something after its matrices?",
        _nets(lambda d, h, n, m: _of_nets(d, m, n * d * h, 0)),
    ),
    Mistake(
        "net_biases_always",
        "Has the net of this model biases? Which entry says so?",
        _nets(lambda d, h, n, m: _of_nets(d, m | {"mlp_bias": 1}, n * d * h, (n - 1) * h + d)),
    ),
    Mistake(
        "net_biases_of_width_h",
        "The last matrix leads back to the stream. How long is the bias behind it?",
        _nets(lambda d, h, n, m: _of_nets(d, m, n * d * h, n * h)),
    ),
    Mistake(
        "net_biases_of_width_d",
        "Most matrices of the net lead to its own width. How long is a bias there?",
        _nets(lambda d, h, n, m: _of_nets(d, m, n * d * h, n * d)),
    ),
    Mistake(
        "last_bias_forgotten",
        "After which matrix of the net do you count no bias?",
        _nets(lambda d, h, n, m: _of_nets(d, m, n * d * h, (n - 1) * h)),
    ),
    Mistake(
        "one_inner_bias",
        "How many matrices lead from the stream to the width of the net?",
        _nets(lambda d, h, n, m: _of_nets(d, m, n * d * h, h + d)),
    ),
    Mistake(
        "one_expert",
        "How many nets does a layer of this model keep in memory?",
        _nets(lambda d, h, n, m: _of_nets(d, m | {"n_experts": 1}, n * d * h, (n - 1) * h + d)),
    ),
    Mistake(
        "no_router",
        "A matrix decides which nets a token visits. Do you count it?",
        _nets(
            lambda d, h, n, m: (
                m["n_experts"] * _of_nets(d, m | {"n_experts": 1}, n * d * h, (n - 1) * h + d)
            )
        ),
    ),
    Mistake(
        "router_always",
        "If a layer has a single net, what is there to choose?",
        _nets(
            lambda d, h, n, m: (
                d * (m["n_experts"] == 1) + _of_nets(d, m, n * d * h, (n - 1) * h + d)
            )
        ),
    ),
    Mistake(
        "two_experts",
        "Do you count the nets that a token visits, or all that are stored?",
        _nets(
            lambda d, h, n, m: (
                _of_nets(d, m, n * d * h, (n - 1) * h + d) - max(m["n_experts"] - 2, 0) * n * d * h
            )
        ),
    ),
)
ORDER = Mistake(
    "order",
    "In which order do you return the two counts?",
    lambda model: {"attention": layer(model)["net"], "net": layer(model)["attention"]},
)
