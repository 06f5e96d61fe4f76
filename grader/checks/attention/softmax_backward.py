"""The softmax's backward pass: its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.attention.formulas import soft, soft_backward, triangle
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.softmax import softmax_backward


def _pair(rng, shape, weights, about):
    return Case({"dweights": witness.rows(rng, shape), "weights": weights}, about)


def _soft_rows(rng, shape):
    return soft(witness.rows(rng, shape))


def _back_value(rng):
    yield _pair(rng, (7,), _soft_rows(rng, (7,)), "one row")
    sure = np.array([1 - 6e-5, 1e-5, 2e-5, 3e-5])
    yield _pair(rng, (4,), sure, "one row, almost all of the weight in one place")


def _back_rows(rng):
    yield _pair(rng, (5, 7), _soft_rows(rng, (5, 7)), "ordinary rows")
    yield _pair(rng, (2, 3, 5, 7), _soft_rows(rng, (2, 3, 5, 7)), "rows behind three more axes")


def _back_hidden(rng):
    weights = soft(np.where(triangle(5, 5), witness.rows(rng, (3, 5, 5)), -np.inf))
    yield _pair(rng, (3, 5, 5), weights, "weights behind a causal mask")


def _back_untouched(rng):
    yield _pair(rng, (3, 5, 7), _soft_rows(rng, (3, 5, 7)), "rows, looked at again after the call")


def _dscores(formula):
    return lambda dweights, weights: {"dscores": formula(dweights, weights)}


def _total(array, axis=-1):
    return np.sum(array, axis=axis, keepdims=True)


SOFTMAX_BACK_MISTAKES = (
    Mistake(
        "diagonal_alone",
        "Does a weight change when another score of its row moves?",
        lambda g, p: p * (1 - p) * g,
    ),
    Mistake(
        "no_mean",
        "All scores of a row rise by the same amount: what do the weights do, what your gradient?",
        lambda g, p: p * g,
    ),
    Mistake(
        "plain_mean",
        "Is it the plain mean of the gradient that is taken away, or one that knows the weights?",
        lambda g, p: p * (g - np.mean(g, axis=-1, keepdims=True)),
    ),
    Mistake(
        "plain_sum",
        "You take a sum of the gradient away. What is each term of it multiplied by?",
        lambda g, p: p * (g - _total(g)),
    ),
    Mistake(
        "mean_of_products",
        "p · g is a sum. Have you divided it by the number of keys?",
        lambda g, p: p * (g - np.mean(g * p, axis=-1, keepdims=True)),
    ),
    Mistake(
        "sign",
        "Which sign has the second term? Add up a row of your gradient.",
        lambda g, p: p * (g + _total(g * p)),
    ),
    Mistake(
        "weight_missing",
        "A key of weight zero: what gradient does its score get from you?",
        lambda g, p: g - _total(g * p),
    ),
    Mistake(
        "weight_twice",
        "How often does the weight itself multiply the bracket?",
        lambda g, p: p * p * (g - _total(g * p)),
    ),
    Mistake(
        "weight_of_first_term",
        "Your first term has no weight in front. What does ∂p_s/∂z_s start with?",
        lambda g, p: g - p * _total(g * p),
    ),
    Mistake(
        "weight_of_second_term",
        "Your second term is one number for all keys. Which factor has ∂p_r/∂z_s beside p_r?",
        lambda g, p: p * g - _total(g * p),
    ),
    Mistake(
        "cross_entropy",
        "Is there a cross-entropy in attention? Which loss has the gradient that you wrote?",
        lambda g, p: p - g,
    ),
)

SOFTMAX_BACKWARD = Exercise(
    name="softmax_backward",
    returns=("dscores",),
    reference=_dscores(softmax_backward),
    claims=by_name(
        Claim("value", "For one row, dscores is the Jacobian times g.", _back_value, ("dscores",)),
        Claim("rows", "Many rows at once: each has its own p · g.", _back_rows, ("dscores",)),
        Claim("hidden", "A key of weight zero gets no gradient.", _back_hidden, ("dscores",)),
        Claim(
            "untouched",
            "The two arguments are left as they were.",
            _back_untouched,
            ("dscores",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        *(Mistake(m.name, m.question, _dscores(m.outputs)) for m in SOFTMAX_BACK_MISTAKES),
        Mistake(
            "one_mean_for_all",
            "p · g is one number per row. Do your rows share one?",
            _dscores(lambda g, p: p * (g - np.sum(g * p))),
        ),
        Mistake(
            "column_mean",
            "Along which axis do you sum p · g? A row of weights belongs to one query.",
            _dscores(lambda g, p: p * (g - _total(g * p, -2))),
        ),
        Mistake(
            "softmax_again",
            "What are you given: scores, or weights that have been through the softmax already?",
            _dscores(lambda g, p: soft_backward(g, soft(p))),
        ),
    ),
)
