"""Judging one claim: draw its cases, call the answer on each, name the mistake in a failure."""

import zlib

import numpy as np

from grader.checks.engine.calling import Unusable, call, shapes
from grader.checks.engine.diagnosis import fitting_mistakes
from grader.checks.engine.failure import CheckFailed
from grader.checks.engine.judges import Trial


def judge(exercise, claim, answer, companions, seed):
    """Return ``None`` if the claim holds on all its cases, else the `CheckFailed` to raise."""
    for case in claim.cases(claim_rng(seed, claim)):
        failure = _judge_case(exercise, claim, case, answer, companions, seed)
        if failure is not None:
            return failure
    return None


def claim_rng(seed, claim):
    """Give each claim its own stream, so that a claim alone repeats what it drew among others."""
    return np.random.default_rng([seed, zlib.crc32(claim.name.encode())])


def _judge_case(exercise, claim, case, answer, companions, seed):
    """Try every way to pass the inputs: one that holds is enough.

    If none does, the first that gave values tells most, and where none gave any, the last one:
    the learner's own.
    """
    failures = []
    for arguments in exercise.arguments(case.inputs, companions):
        failure = _try(exercise, claim, case, answer, arguments, seed)
        if failure is None:
            return None
        failures.append(failure)
    return next((failure for failure in failures if not failure.unusable), failures[-1])


def _try(exercise, claim, case, answer, arguments, seed):
    """Make one call (twice, to see whether it repeats itself) and judge what came back."""
    try:
        reply, again = (call(exercise, answer, arguments) for _ in range(2))
    except Unusable as reason:
        return CheckFailed(exercise.name, claim.name, str(reason), seed=seed, unusable=True)
    wanted = exercise.reference(**case.inputs)
    trial = Trial(case.inputs, claim.outputs, reply, again, wanted, case.tolerance)
    fault = claim.judge(trial)
    if fault is None:
        return None
    mistakes = fitting_mistakes(exercise, claim, case, answer, reply, seed)
    questions = [mistake.question for mistake in mistakes]
    names = [mistake.name for mistake in mistakes]
    if not mistakes and fault.question:
        questions, names = [fault.question], [fault.mistake]
    sentence = "\nOr: ".join(questions) or f"This does not hold yet: {claim.says}"
    evidence = [fault.evidence, f"The input: {case.about} ({shapes(arguments)})."]
    return CheckFailed(exercise.name, claim.name, sentence, evidence, names, seed)
