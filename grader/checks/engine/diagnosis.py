"""Naming the mistake: which entry of the catalogue gives exactly what the answer gave."""

import numpy as np

from grader.checks.engine.calling import Unusable, call
from grader.checks.engine.comparing import agree, as_numbers

MOST_NAMED = 2


def fitting_mistakes(exercise, claim, case, answer, reply, seed):
    """Return the mistakes that explain a failure: one, two that cannot be told apart, or none."""
    fitting = [
        mistake
        for mistake in exercise.mistakes
        if _gives(mistake, reply.outputs, claim.outputs, case)
        and not _gives(mistake, exercise.reference(**case.inputs), claim.outputs, case)
    ]
    if len(fitting) > 1:
        fitting = _separate(fitting, exercise, answer, seed)
    return fitting if len(fitting) <= MOST_NAMED else []


def _gives(mistake, values, outputs, case):
    """Tell whether a mistake gives these values for the outputs that it concerns."""
    with np.errstate(all="ignore"):
        try:
            expected = mistake.outputs(**case.inputs)
        except (ValueError, IndexError):
            return False  # this mistake cannot be made on such an input
    shared = [name for name in outputs if name in expected]
    return bool(shared) and all(
        _equal(values[name], expected[name], case.tolerance) for name in shared
    )


def _equal(value, expected, tolerance):
    got, want = as_numbers(value), as_numbers(expected)
    return got is not None and agree(got, want, tolerance)


def _separate(mistakes, exercise, answer, seed):
    """Drop the mistakes that another input of the exercise rules out, as long as one is left."""
    for claim in exercise.claims.values():
        for case in claim.cases(np.random.default_rng(seed)):
            try:
                reply = call(exercise, answer, next(iter(exercise.arguments(case.inputs, {}))))
            except Unusable:
                continue
            still = [m for m in mistakes if _gives(m, reply.outputs, claim.outputs, case)]
            mistakes = still or mistakes
            if len(mistakes) == 1:
                return mistakes
    return mistakes
