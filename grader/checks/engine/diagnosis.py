"""Naming the mistake: which entry of the catalogue gives exactly what the answer gave."""

import contextlib

import numpy as np

from grader.checks.engine.calling import Unusable
from grader.checks.engine.comparing import agree, as_numbers
from grader.checks.engine.drawing import other_cases, wanted

MOST_NAMED = 2


def fitting_mistakes(judging, case, reply):
    """Return the mistakes that explain a failure: one, two that cannot be told apart, or none."""
    outputs, right = judging.claim.outputs, wanted(judging.exercise, case)
    fitting = [
        mistake
        for mistake in judging.exercise.mistakes
        if _gives(mistake, reply.outputs, outputs, case)
        and not _gives(mistake, right, outputs, case)
    ]
    fitting = _not_by_chance(fitting, judging)
    if len(fitting) > 1:
        fitting = _separate(fitting, judging)
    return fitting if len(fitting) <= MOST_NAMED else []


def _gives(mistake, values, outputs, case):
    """Tell whether a mistake gives these values; ``None`` if it cannot be made on the case."""
    with np.errstate(all="ignore"):
        try:
            expected = mistake.outputs(**case.inputs)
        except (ValueError, IndexError):
            return None
    shared = [name for name in outputs if name in expected and name in values]
    if not shared:
        return None
    return all(_equal(values[name], expected[name], case.tolerance) for name in shared)


def _equal(value, expected, tolerance):
    got, want = as_numbers(value), as_numbers(expected)
    return got is not None and agree(got, want, tolerance)


def _not_by_chance(mistakes, judging):
    """Drop the mistakes that fit here only: the claim's cases are drawn again with other sizes."""
    if not mistakes:
        return []
    others = other_cases(judging.exercise, judging.claim, judging.seed)
    for case, reply in _replies(judging, others):
        mistakes = [
            mistake
            for mistake in mistakes
            if _gives(mistake, reply.outputs, judging.claim.outputs, case) is not False
        ]
    return mistakes


def _separate(mistakes, judging):
    """Drop the mistakes that another input of the exercise rules out, as long as one is left."""
    for claim in judging.exercise.claims.values():
        cases = claim.cases(np.random.default_rng(judging.seed))
        for case, reply in _replies(judging, cases):
            still = [m for m in mistakes if _gives(m, reply.outputs, claim.outputs, case)]
            mistakes = still or mistakes
            if len(mistakes) == 1:
                return mistakes
    return mistakes


def _replies(judging, cases):
    """Yield each case with what the answer gives on it, where it gives anything."""
    for case in cases:
        arguments = next(iter(judging.exercise.arguments(case.inputs, judging.companions)))
        with contextlib.suppress(Unusable):
            yield case, judging.call(arguments)
