"""Naming the mistake: which entry of the catalogue gives exactly what the answer gave."""

import numpy as np

from grader.checks.engine.calling import Unusable
from grader.checks.engine.comparing import agree, as_numbers

MOST_NAMED = 2


def fitting_mistakes(judging, case, reply):
    """Return the mistakes that explain a failure: one, two that cannot be told apart, or none."""
    outputs, right = judging.claim.outputs, judging.exercise.reference(**case.inputs)
    fitting = [
        mistake
        for mistake in judging.exercise.mistakes
        if _gives(mistake, reply.outputs, outputs, case)
        and not _gives(mistake, right, outputs, case)
    ]
    if len(fitting) > 1:
        fitting = _separate(fitting, judging)
    return fitting if len(fitting) <= MOST_NAMED else []


def _gives(mistake, values, outputs, case):
    """Tell whether a mistake gives these values for the outputs that it concerns."""
    with np.errstate(all="ignore"):
        try:
            expected = mistake.outputs(**case.inputs)
        except (ValueError, IndexError):
            return False  # this mistake cannot be made on such an input
    shared = [name for name in outputs if name in expected and name in values]
    return bool(shared) and all(
        _equal(values[name], expected[name], case.tolerance) for name in shared
    )


def _equal(value, expected, tolerance):
    got, want = as_numbers(value), as_numbers(expected)
    return got is not None and agree(got, want, tolerance)


def _separate(mistakes, judging):
    """Drop the mistakes that another input of the exercise rules out, as long as one is left."""
    exercise = judging.exercise
    for claim in exercise.claims.values():
        for case in claim.cases(np.random.default_rng(judging.seed)):
            try:
                reply = judging.call(next(iter(exercise.arguments(case.inputs, {}))))
            except Unusable:
                continue
            still = [m for m in mistakes if _gives(m, reply.outputs, claim.outputs, case)]
            mistakes = still or mistakes
            if len(mistakes) == 1:
                return mistakes
    return mistakes
