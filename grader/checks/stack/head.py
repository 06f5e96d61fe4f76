"""The logits, forward: every position against every row of E."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype
from grader.checks.stack.inputs import LEADING, sizes
from grader.checks.stack.loss_pieces import soft
from transformer_block.embedding import logits_forward


def case(rng, about, leading=1, dtype=np.float64, tolerance=1e-9):
    """Draw rows of the stream, and the matrix that they meet."""
    V, T, d = sizes(rng)
    x = witness.rows(rng, (*LEADING[leading], T, d)).astype(dtype)
    return Case({"x": x, "weight": witness.rows(rng, (V, d)).astype(dtype)}, about, tolerance)


def value(rng):
    """Draw the cases of every value."""
    yield case(rng, "three sequences")
    yield case(rng, "one sequence without leading axes", 0)
    drawn = case(rng, "two leading axes, rows of very different size", 2)
    yield Case(drawn.inputs | {"x": witness.uneven_rows(rng, drawn.inputs["x"].shape)}, drawn.about)


def types(rng):
    """Draw the case of every dtype."""
    yield case(rng, "all arrays in float32", 1, np.float32, 1e-5)


def _rms(x):
    return np.sqrt(np.mean(x * x, axis=-1, keepdims=True))


def _logits(formula):
    """Make a mistake in the logits."""
    return lambda x, weight: {"logits": formula(x, weight)}


MISTAKES = (
    Mistake(
        "probabilities",
        "Are logits asked for, or probabilities? Do your rows add to one?",
        _logits(lambda x, weight: soft(x @ weight.T)),
    ),
    Mistake(
        "log_probabilities",
        "Are logits asked for, or logarithms of probabilities?",
        _logits(lambda x, weight: np.log(soft(x @ weight.T))),
    ),
    Mistake(
        "scaled",
        "Does a √d belong here, as it does in attention?",
        _logits(lambda x, weight: x @ weight.T / x.shape[-1] ** 0.5),
    ),
    Mistake(
        "scaled_up",
        "Are your logits too large by a factor? What did you multiply by?",
        _logits(lambda x, weight: x @ weight.T * x.shape[-1] ** 0.5),
    ),
    Mistake(
        "norm_again",
        "x has been through the final norm already. How often do you normalise it?",
        _logits(lambda x, weight: x / _rms(x) @ weight.T),
    ),
    Mistake(
        "rows_normalised",
        "Do the lengths of the rows of E count in an inner product? Do they in yours?",
        _logits(lambda x, weight: x @ (weight / _rms(weight)).T),
    ),
    Mistake(
        "cosine",
        "Is it the inner product that is asked for, or the cosine of the angle?",
        _logits(
            lambda x, weight: x / _rms(x) @ (weight / _rms(weight)).T / x.shape[-1]
        ),
    ),
    Mistake(
        "mean_of_products",
        "Are the d products of a logit added, or averaged?",
        _logits(lambda x, weight: x @ weight.T / x.shape[-1]),
    ),
    Mistake(
        "distance",
        "Is a logit an inner product or a distance?",
        _logits(lambda x, weight: -np.sum((x[..., None, :] - weight) ** 2, axis=-1)),
    ),
    Mistake(
        "sign",
        "Should a row of E that points the way of x get a high score or a low one?",
        _logits(lambda x, weight: -(x @ weight.T)),
    ),
    Mistake(
        "last_position",
        "Which positions get logits: the last alone, or all of them?",
        _logits(lambda x, weight: x[..., -1, :] @ weight.T),
    ),
    Mistake(
        "tokens_last",
        "Which axis is last in your result: the vocabulary, or the positions?",
        _logits(lambda x, weight: np.swapaxes(x @ weight.T, -1, -2)),
    ),
)  # fmt: skip


FORWARD = Exercise(
    name="logits_forward",
    returns=("logits", "cache"),
    reference=lambda x, weight: {"logits": logits_forward(x, weight)[0]},
    claims=by_name(
        Claim(
            "value",
            "A logit is the inner product of a position's row and a token's row.",
            value,
            ("logits",),
        ),
        Claim("types", "float32 goes in and float32 comes out.", types, ("logits",), keeps_dtype),
    ),
    mistakes=MISTAKES,
)
