"""The softmax: its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.attention.formulas import soft, triangle
from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.softmax import softmax


def _case(scores, about, tolerance=1e-9):
    return Case({"scores": scores}, about, tolerance)


def _value(rng):
    yield _case(witness.rows(rng, (5, 7)), "ordinary rows")
    yield _case(witness.rows(rng, (2, 3, 5, 7)), "ordinary rows behind three more axes")
    yield _case(witness.rows(rng, (7,)), "one row")


def _large(rng):
    for offset in (2000.0, -2000.0):
        scores = witness.rows(rng, (3, 5, 7))
        scores[1, 2] += offset
        yield _case(scores, f"ordinary rows, one of them shifted by {offset:+.0f}")
    for top in (800.0, 2000.0):
        scores = witness.rows(rng, (5, 7))
        scores[2, 3] = top
        yield _case(scores, f"ordinary rows, one score is {top:.0f}")


def _hidden(rng):
    scores = np.where(triangle(5, 5), witness.rows(rng, (3, 5, 5)), -np.inf)
    yield _case(scores, "what lies in the future is minus infinity")


def _types(rng):
    yield _case(witness.rows(rng, (3, 5, 7)).astype(np.float32), "scores in float32", 1e-5)


def _untouched(rng):
    yield _case(witness.rows(rng, (3, 5, 7)), "ordinary rows, looked at again after the call")


def _weights(formula):
    return lambda scores: {"weights": formula(scores)}


def _less(shift):
    """Make a softmax that takes another number than the row's maximum away."""

    def formula(scores):
        weights = np.exp(scores - shift(scores))
        return weights / np.sum(weights, axis=-1, keepdims=True)

    return _weights(formula)


def _over(axis, ndim):
    def formula(scores):
        if scores.ndim < ndim:
            raise ValueError("there is no such axis")
        return soft(scores, axis)

    return _weights(formula)


def _row(function):
    return lambda scores: function(scores, axis=-1, keepdims=True)


def _one_sum(scores):
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights)


SOFTMAX = Exercise(
    name="softmax",
    returns=("weights",),
    reference=_weights(softmax),
    claims=by_name(
        Claim("value", "Each row becomes positive weights that add to one.", _value, ("weights",)),
        Claim("large", "Scores of any size give finite weights.", _large, ("weights",)),
        Claim("hidden", "A score of minus infinity gets weight zero.", _hidden, ("weights",)),
        Claim(
            "types",
            "Weights have the dtype of the scores.",
            _types,
            ("weights",),
            keeps_dtype_of("scores"),
        ),
        Claim(
            "untouched",
            "The scores are left as they were.",
            _untouched,
            ("weights",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        Mistake(
            "no_maximum",
            "What is exp(2000)? And what do exp(−2000) and its row add to?",
            _less(lambda scores: 0.0),
        ),
        Mistake(
            "one_maximum",
            "Whose largest score is taken away: that of the row, or that of the whole array?",
            _less(np.max),
        ),
        Mistake(
            "minimum",
            "Which score of a row must become zero, so that no exponential overflows?",
            _less(_row(np.min)),
        ),
        Mistake(
            "mean_taken_away",
            "You take the mean away. How far above its mean can a score lie?",
            _less(_row(np.mean)),
        ),
        Mistake(
            "size_taken_away",
            "A row lies near −2000. What does your function take away from it?",
            _less(lambda scores: np.max(np.abs(scores), axis=-1, keepdims=True)),
        ),
        Mistake(
            "column_axis",
            "Add up one row of your weights. Along which axis do they add to one?",
            _over(-2, 2),
        ),
        Mistake(
            "first_axis",
            "Your weights add to one along the first axis. Where are the keys of one query?",
            _over(0, 2),
        ),
        Mistake(
            "second_axis",
            "You count your axis from the front. Where are the keys if more axes come in front?",
            _over(1, 2),
        ),
        Mistake(
            "whole_array",
            "What do all your weights together add to? And what should one row add to?",
            _weights(
                lambda scores: np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            ),
        ),
        Mistake(
            "one_sum",
            "Whose exponentials do you divide by: those of the row, or those of the whole array?",
            _weights(_one_sum),
        ),
        Mistake(
            "not_divided",
            "What do your weights add to? Something is still to be divided by.",
            _weights(lambda scores: np.exp(scores - np.max(scores, axis=-1, keepdims=True))),
        ),
        Mistake(
            "logarithm",
            "Some of your weights are negative. Is this the softmax or its logarithm?",
            _weights(lambda scores: np.log(soft(scores))),
        ),
        Mistake(
            "cut_off",
            "You cut large scores off. What is left of the difference between 2000 and 2001?",
            _weights(lambda scores: soft(np.clip(scores, -500, 500))),
        ),
        Mistake(
            "no_exponential",
            "Scores can be negative, weights cannot. Which function makes them positive?",
            _weights(lambda scores: scores / np.sum(scores, axis=-1, keepdims=True)),
        ),
        Mistake(
            "sigmoid",
            "Do the weights of a row know of each other in your function?",
            _weights(lambda scores: 1 / (1 + np.exp(-scores))),
        ),
        Mistake(
            "minus_sign",
            "Which score should get the largest weight, the largest or the smallest?",
            _weights(lambda scores: soft(-scores)),
        ),
    ),
)
