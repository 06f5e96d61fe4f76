"""The context length at which attention costs as much as the dense matrices."""

from grader.checks.counting.models import config_of, drawn, published
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.flops import balance_length, weights_per_token


def _case(model, head, about):
    return Case({"model": model, "head": head}, about)


def _block(rng):
    yield _case(drawn(rng), "left out", "a made-up model, its head left out")
    yield _case(published("Llama-3 / 3.1 8B"), "left out", "Llama-3 / 3.1 8B without its head")
    yield _case(published("GPT-2 small"), "left out", "GPT-2 small without its head")


def _whole(rng):
    yield _case(drawn(rng), "counted", "a made-up model with its head")
    yield _case(drawn(rng, tied_embeddings=True), "counted", "a made-up model with a tied head")
    yield _case(published("SmolLM2-135M"), "counted", "SmolLM2-135M with its head")
    yield _case(published("Gemma-1 7B"), "counted", "Gemma-1 7B with its head")


def _length(model, head):
    return balance_length(config_of(model), head=head)


def _T(formula):
    """Name a length that is made of the right one."""
    return lambda model, head: {"T": formula(_length(model, head), model, head)}


def _other(head):
    return {"counted": "left out", "left out": "counted"}[head]


def _weights(model, head):
    weights = weights_per_token(config_of(model))
    return sum(weights.values()) - (head == "left out") * weights["head"]


BALANCE = Exercise(
    name="balance_context",
    returns=("T",),
    reference=lambda model, head: {"T": _length(model, head)},
    claims=by_name(
        Claim("block", "Without the head, both sides cost the same at T.", _block, ("T",)),
        Claim("head", "With the head, both sides cost the same at T.", _whole, ("T",)),
    ),
    mistakes=(
        Mistake(
            "half_the_term",
            "Twice too long. Do both sides count two FLOPs for a multiply-add? Both products, all "
            "T keys?",
            _T(lambda T, m, head: 2 * T),
        ),
        Mistake(
            "half_the_matrices",
            "Half as long as it should be. How many FLOPs does each weight cost for a token?",
            _T(lambda T, m, head: T / 2),
        ),
        Mistake(
            "quarter_of_the_term",
            "Four times too long. How many FLOPs does one key cost a query, in scores and mixing?",
            _T(lambda T, m, head: 4 * T),
        ),
        Mistake(
            "training_on_one_side",
            "Three times too long. Is one side for training, and the other for a forward pass?",
            _T(lambda T, m, head: 3 * T),
        ),
        Mistake(
            "other_head",
            "Does the second argument say that the head counts? And do you?",
            _T(lambda T, m, head: _length(m, _other(head))),
        ),
        Mistake(
            "head_always",
            "Is the head to be left out here?",
            _T(lambda T, m, head: _length(m, "counted")),
        ),
        Mistake(
            "head_never",
            "Is the head to be counted here?",
            _T(lambda T, m, head: _length(m, "left out")),
        ),
        Mistake(
            "tied_head_free",
            "Is the product with a tied head free?",
            _T(lambda T, m, head: _length(m, "left out" if m["tied_embeddings"] else head)),
        ),
        Mistake(
            "head_in_every_layer",
            "How often does a token meet the head, and how often a block?",
            _T(
                lambda T, m, head: (
                    _length(m, "left out")
                    + (head == "counted")
                    * m["vocab_rows"]
                    * m["d_model"]
                    / (2 * m["n_heads"] * m["head_dim"])
                )
            ),
        ),
        Mistake(
            "term_of_one_layer",
            "One side is for all layers. Is the other too?",
            _T(lambda T, m, head: T * m["n_layers"]),
        ),
        Mistake(
            "matrices_of_one_layer",
            "One side is for all layers. Is that of the matrices too?",
            _T(lambda T, m, head: T / m["n_layers"]),
        ),
        Mistake(
            "key_heads",
            "Which heads make scores: those of the queries, or those of the keys?",
            _T(lambda T, m, head: T * m["n_heads"] / m["n_kv_heads"]),
        ),
        Mistake(
            "width_d",
            "How wide are all query heads together? Is that d in this model?",
            _T(lambda T, m, head: T * m["n_heads"] * m["head_dim"] / m["d_model"]),
        ),
        Mistake(
            "one_head",
            "How many heads make scores?",
            _T(lambda T, m, head: T * m["n_heads"]),
        ),
        Mistake(
            "six_d",
            "For which block is it 6d? Has this model 12d² in a block?",
            _T(lambda T, m, head: 6 * m["d_model"]),
        ),
        Mistake(
            "full_key_heads",
            "How wide are W_k and W_v in this model?",
            _T(
                lambda T, m, head: (
                    T + m["d_model"] * (m["n_heads"] - m["n_kv_heads"]) / m["n_heads"]
                )
            ),
        ),
        Mistake(
            "attention_s_own_matrices",
            "Do the dense matrices of a block end with those of attention?",
            _T(lambda T, m, head: m["d_model"] * (1 + m["n_kv_heads"] / m["n_heads"])),
        ),
        Mistake(
            "net_alone",
            "Are the four matrices of attention on the side of the dense ones?",
            _T(lambda T, m, head: T - m["d_model"] * (1 + m["n_kv_heads"] / m["n_heads"])),
        ),
        Mistake(
            "cut_off",
            "Must the length be a whole number? The two sides are to be equal, exactly.",
            _T(lambda T, m, head: T // 1),
        ),
        Mistake(
            "rounded_up",
            "Must the length be a whole number? Do you round it up?",
            _T(lambda T, m, head: -(-T // 1)),
        ),
        Mistake(
            "square",
            "Is your T the answer, or its square root?",
            _T(lambda T, m, head: T**0.5),
        ),
        Mistake(
            "weights",
            "You return a number of weights. What does each key cost?",
            _T(lambda T, m, head: _weights(m, head)),
        ),
    ),
)
