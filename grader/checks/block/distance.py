"""The distance of two gradients on a scale from 0 to 1: its claims and what goes wrong."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.gradcheck import relative_error


def _pair(rng, shape, scale=1.0):
    a = witness.rows(rng, shape, scale)
    return {"a": a, "b": a + witness.rows(rng, shape, 0.4 * scale)}


def _value(rng):
    yield Case(_pair(rng, 5), "two gradients of one axis")
    yield Case(_pair(rng, (3, 5)), "two gradients of two axes")
    yield Case(_pair(rng, (2, 3, 5)), "two gradients of three axes")


def _scale(rng):
    yield Case(_pair(rng, (3, 5), 1e-9), "gradients of size 1e-9")
    yield Case(_pair(rng, (3, 5), 1e9), "gradients of size 1e9")


def _factor(rng):
    a = witness.rows(rng, (3, 5))
    factor = float(rng.integers(3, 40))
    yield Case({"a": factor * a, "b": a}, f"one gradient is {factor:g} times the other")
    yield Case({"a": -a, "b": a}, "the gradients have opposite signs")
    yield Case({"a": a, "b": 0 * a}, "the second gradient is zero")


def _zero(rng):
    yield Case({"a": np.zeros((3, 5)), "b": np.zeros((3, 5))}, "both gradients are zero")


def _untouched(rng):
    yield Case(_pair(rng, (3, 5)), "two gradients, looked at again after the call")


def _error(formula):
    """Make outputs of a formula, which is given both gradients, and their difference."""

    def outputs(a, b):
        if not (np.any(a) or np.any(b)):
            raise ValueError("zeros show another mistake")
        return {"error": formula(a, b, a - b)}

    return outputs


def length(a):
    """Return the root of the sum of squares, whatever the axes."""
    return np.sqrt(np.sum(a * a))


def _spectral(a, b, c):
    if a.ndim != 2:
        raise ValueError("only matrices show this mistake")
    return np.linalg.norm(c, 2) / (np.linalg.norm(a, 2) + np.linalg.norm(b, 2))


def _by_rows(a, b, c):
    if a.ndim < 2:
        raise ValueError("only several rows show this mistake")
    lengths = [np.linalg.norm(v, axis=-1) for v in (c, a, b)]
    return np.mean(lengths[0] / (lengths[1] + lengths[2]))


FORMULAS = {
    "absolute": lambda a, b, c: length(c),
    "largest_entry": lambda a, b, c: np.max(np.abs(c)) / (np.max(np.abs(a)) + np.max(np.abs(b))),
    "over_first": lambda a, b, c: length(c) / length(a),
    "over_second": lambda a, b, c: length(c) / length(b),
    "over_larger": lambda a, b, c: length(c) / max(length(a), length(b)),
    "over_mean": lambda a, b, c: 2 * length(c) / (length(a) + length(b)),
    "over_length_of_sum": lambda a, b, c: length(c) / length(a + b),
    "over_root": lambda a, b, c: length(c) / np.hypot(length(a), length(b)),
    "over_product": lambda a, b, c: length(c) / (length(a) * length(b)),
    "squared": lambda a, b, c: np.sum(c * c) / (np.sum(a * a) + np.sum(b * b)),
    "absolute_sums": lambda a, b, c: np.sum(np.abs(c)) / (np.sum(np.abs(a)) + np.sum(np.abs(b))),
    "entry_by_entry": lambda a, b, c: np.mean(np.abs(c) / (np.abs(a) + np.abs(b))),
    "worst_entry": lambda a, b, c: np.max(np.abs(c) / (np.abs(a) + np.abs(b))),
    "sums": lambda a, b, c: abs(np.sum(c)) / (abs(np.sum(a)) + abs(np.sum(b))),
    "lengths": lambda a, b, c: abs(length(a) - length(b)) / (length(a) + length(b)),
    "direction": lambda a, b, c: 1 - np.sum(a * b) / (length(a) * length(b)),
    "signs_dropped": lambda a, b, c: length(np.abs(a) - np.abs(b)) / (length(a) + length(b)),
    "spectral": _spectral,
    "by_rows": _by_rows,
    "floor": lambda a, b, c: length(c) / (length(a) + length(b) + 1e-8),
}

QUESTIONS = {
    "absolute": "Is your error set against the size of the gradients?",
    "largest_entry": "Do you measure a gradient by its length, or by its largest entry?",
    "over_first": "If the two arguments are exchanged, should the error change? What divides it?",
    "over_second": "The error should not depend on which gradient comes first. What divides it?",
    "over_larger": "Do you divide by the sum of both lengths, or by the larger one?",
    "over_mean": "How large is your error for opposite gradients? It should be 1.",
    "over_length_of_sum": "Do you divide by the sum of the lengths, or by the length of the sum?",
    "over_root": "Are the two lengths added as they are, or as squares under a root?",
    "over_product": "What becomes of your error when both gradients are 1000 times as large?",
    "squared": "Is your length a sum of squares, or the root of one?",
    "absolute_sums": "Is a length the sum of the sizes of all entries, or the root of something?",
    "entry_by_entry": "Do you compare entry by entry? One that is almost zero then counts as much.",
    "worst_entry": "Is your error that of the worst entry, or that of the whole array?",
    "sums": "Can errors of opposite sign cancel in your formula?",
    "lengths": "Two gradients of one length in different directions: what is your error?",
    "direction": "Do you compare directions alone? Then what of a factor of two?",
    "signs_dropped": "What is your error for two gradients of opposite sign?",
    "spectral": "Which norm of a matrix does your call give? Look at its second argument.",
    "by_rows": "Over which axes does your length go: the last one, or all?",
    "floor": "Which number do you add below? Is it small beside a gradient of size 1e-9?",
}


def _nan_at_zero(a, b):
    if np.any(a) or np.any(b):
        raise ValueError("only two gradients of zero show this mistake")
    return {"error": np.nan}


DISTANCE = Exercise(
    name="relative_error",
    returns=("error",),
    reference=lambda a, b: {"error": relative_error(a, b)},
    claims=by_name(
        Claim("value", "The length of the difference, over both lengths.", _value, ("error",)),
        Claim("factor", "A factor c shows as (c − 1)/(c + 1).", _factor, ("error",)),
        Claim("scale", "Tiny and huge gradients are judged alike.", _scale, ("error",)),
        Claim("zero", "Two gradients of zero agree.", _zero, ("error",)),
        Claim(
            "untouched",
            "Both gradients are left as they were.",
            _untouched,
            ("error",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        *(Mistake(name, QUESTIONS[name], _error(FORMULAS[name])) for name in FORMULAS),
        Mistake("nan_at_zero", "What is zero divided by zero?", _nan_at_zero),
    ),
)
