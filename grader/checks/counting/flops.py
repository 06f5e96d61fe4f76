"""FLOPs of one token: the dense matrices, and the term that grows with the context."""

from grader.checks.counting.judges import counts
from grader.checks.counting.models import case, config_of, drawn, known
from grader.checks.engine.exercise import Claim, Exercise, Mistake, by_name
from transformer_block.counting import count_parameters
from transformer_block.flops import sequence_flops, weights_per_token


def _flops(model, T):
    parts = sequence_flops(config_of(model), T)
    attention = parts.pop("scores and mixing")
    return {"dense": float(sum(parts.values()) // T), "attention": float(attention // T)}


def _cases(rng, **fixed):
    T = int(rng.choice([127, 131, 137]))
    yield case(drawn(rng, **fixed), "a made-up model with a head of its own", T=T)
    yield case(drawn(rng, tied_embeddings=True, **fixed), "a made-up model with a tied head", T=T)


def _dense(rng):
    yield from _cases(rng)
    yield known("LLaMA-1/2 7B", T=4096)
    yield known("GPT-2 small", T=1024)


def _attention(rng):
    yield from _cases(rng)
    yield known("Llama-3 / 3.1 8B", T=8192)
    yield known("Gemma-1 7B", T=1)


def _biased(rng):
    fixed = {"learned_positions": 149, "qkv_bias": True, "attn_out_bias": True, "mlp_bias": True}
    yield from _cases(rng, **fixed)


def _both(factor):
    """Multiply both numbers by a factor that may depend on the model and on T."""
    return lambda model, T: {
        name: factor(model, T) * number for name, number in _flops(model, T).items()
    }


def _weights(formula):
    """Take 2 FLOPs for each of some other number of weights; the T term stays right."""
    return lambda model, T: {**_flops(model, T), "dense": 2 * formula(model)}


def _term(formula):
    """Take another T term; the dense matrices stay right."""
    return lambda model, T: {**_flops(model, T), "attention": formula(model, T)}


def _table(model):
    return model["vocab_rows"] * model["d_model"]


def _used(model):
    return sum(weights_per_token(config_of(model)).values())


def _part(model, *names):
    parts = count_parameters(config_of(model))
    return sum(parts[name] for name in names)


def _width(model):
    return model["n_layers"] * model["n_heads"] * model["head_dim"]


FLOPS = Exercise(
    name="token_flops_by_part",
    returns=("dense", "attention"),
    reference=_flops,
    claims=by_name(
        Claim(
            "dense",
            "Each matrix that a token is multiplied with costs two FLOPs per entry.",
            _dense,
            ("dense",),
            counts,
        ),
        Claim(
            "attention",
            "Scores and mixing cost what all query heads compute over T tokens.",
            _attention,
            ("attention",),
            counts,
        ),
        Claim(
            "matrices_only",
            "Biases, norms and look-ups count nothing.",
            _biased,
            ("dense",),
            counts,
        ),
    ),
    mistakes=(
        Mistake(
            "multiply_adds",
            "Do you count multiply-adds or FLOPs? How many FLOPs is one multiply-add?",
            _both(lambda m, T: 0.5),
        ),
        Mistake(
            "training",
            "Is your number for a forward pass alone, or for training?",
            _both(lambda m, T: 3),
        ),
        Mistake(
            "backward",
            "Is your number that of the forward pass, or of the way back?",
            _both(lambda m, T: 2),
        ),
        Mistake(
            "whole_sequence",
            "Is your number for one token, or for all T of them?",
            _both(lambda m, T: T),
        ),
        Mistake(
            "one_layer",
            "How many layers does a token pass?",
            lambda model, T: {
                "dense": 2 * (_table(model) + (_used(model) - _table(model)) // model["n_layers"]),
                "attention": _flops(model, T)["attention"] / model["n_layers"],
            },
        ),
        Mistake(
            "no_head",
            "Are the logits made by a matrix product? Does it matter where the matrix is stored?",
            _weights(lambda m: _used(m) - _table(m)),
        ),
        Mistake(
            "tied_head_free",
            "A tied head is no further parameter. Is its product with the token free as well?",
            _weights(lambda m: _used(m) - m["tied_embeddings"] * _table(m)),
        ),
        Mistake(
            "look_up_counted",
            "How many multiplications does it take to read a row of a table?",
            _weights(lambda m: _used(m) + _table(m)),
        ),
        Mistake(
            "look_up_of_untied",
            "You count two V × d tables where the head is its own. Is a token multiplied by both?",
            _weights(lambda m: _used(m) + (not m["tied_embeddings"]) * _table(m)),
        ),
        Mistake(
            "all_parameters",
            "Is every parameter a factor of some product with the token? Think of look-ups, norms.",
            _weights(lambda m: sum(count_parameters(config_of(m)).values())),
        ),
        Mistake(
            "norms_counted",
            "Is a norm's gain a matrix that a row is multiplied with?",
            _weights(lambda m: _used(m) + _part(m, "norms", "final norm")),
        ),
        Mistake(
            "biases_counted",
            "A bias is added. Is that a matrix product?",
            _weights(lambda m: _used(m) + _part(m, "attention biases", "net biases")),
        ),
        Mistake(
            "full_key_heads_in_weights",
            "How wide are W_k and W_v in this model?",
            _weights(
                lambda m: (
                    _used(m)
                    + 2
                    * m["d_model"]
                    * m["n_layers"]
                    * m["head_dim"]
                    * (m["n_heads"] - m["n_kv_heads"])
                )
            ),
        ),
        Mistake(
            "head_width_from_d_in_weights",
            "Is the width of a head d / H here? Which entry says it?",
            _weights(
                lambda m: (
                    _used(m)
                    - _part(m, "W_q", "W_k", "W_v", "W_o")
                    + 2 * m["n_layers"] * m["d_model"] ** 2 * (1 + m["n_kv_heads"] / m["n_heads"])
                )
            ),
        ),
        Mistake(
            "attention_added",
            "Does your first number change with T? Which of the two should?",
            lambda model, T: {"dense": sum(_flops(model, T).values())},
        ),
        Mistake(
            "half",
            "Scores and mixing are two products, over all T tokens here, and a multiply-add is two "
            "FLOPs. Which of these do you count once where it is twice?",
            _term(lambda m, T: 2 * T * _width(m)),
        ),
        Mistake(
            "under_the_mask",
            "Do you count all T keys, as plain code does, or those that the mask lets through?",
            _term(lambda m, T: 2 * (T + 1) * _width(m)),
        ),
        Mistake(
            "half_of_two",
            "You leave out a factor of two twice. How many products are there, and how many FLOPs "
            "has a multiply-add?",
            _term(lambda m, T: T * _width(m)),
        ),
        Mistake(
            "key_heads",
            "How many heads make scores: one for each query head, or one for each key head?",
            _term(lambda m, T: 4 * T * m["n_layers"] * m["n_kv_heads"] * m["head_dim"]),
        ),
        Mistake(
            "width_d",
            "How wide are all query heads together? Is that d in this model?",
            _term(lambda m, T: 4 * T * m["n_layers"] * m["d_model"]),
        ),
        Mistake(
            "one_head",
            "How many heads make scores?",
            _term(lambda m, T: 4 * T * m["n_layers"] * m["head_dim"]),
        ),
        Mistake(
            "scores_without_width",
            "How many multiply-adds does a single score take?",
            _term(lambda m, T: 4 * T * m["n_layers"] * m["n_heads"]),
        ),
        Mistake(
            "term_of_one_layer",
            "In how many layers are there scores?",
            _term(lambda m, T: 4 * T * m["n_heads"] * m["head_dim"]),
        ),
        Mistake(
            "square",
            "How many keys does ONE token look at?",
            _term(lambda m, T: 4 * T * T * _width(m)),
        ),
        Mistake(
            "no_context",
            "Does your second number change with T?",
            _term(lambda m, T: 4 * _width(m)),
        ),
        Mistake(
            "no_term",
            "Scores and mixing have no weights. Does that make them free?",
            _term(lambda m, T: 0),
        ),
    ),
)
