"""Judging one claim: draw its cases, call the answer on each, name the mistake in a failure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.checks.engine import judges
from grader.checks.engine.calling import Unusable, Unwritten, call, shapes
from grader.checks.engine.diagnosis import fitting_mistakes
from grader.checks.engine.drawing import first_cases, wanted
from grader.checks.engine.failure import CheckFailed


@dataclass(frozen=True)
class Judging:
    """What stays the same while one claim is judged."""

    exercise: Any
    claim: Any
    answer: Any
    companions: dict
    seed: int

    def call(self, arguments):
        """Call the answer once."""
        return call(self.exercise, self.answer, arguments)

    def trial(self, case, arguments):
        """Call the answer on a case; the judge may want the same call again."""
        reply = self.call(arguments)
        return judges.Trial(
            inputs=case.inputs,
            outputs=self.claim.outputs,
            reply=reply,
            again=lambda: self.call(arguments),
            wanted=wanted(self.exercise, case),
            tolerance=case.tolerance,
            ask=lambda other: self.call(other).outputs,
        )

    def failed(self, sentence, **facts):
        """Make the failure of this claim."""
        return CheckFailed(self.exercise.name, self.claim.name, sentence, seed=self.seed, **facts)


def judge(exercise, claim, answer, companions, seed):
    """Return ``None`` if the claim holds on all its cases, else the `CheckFailed` to raise."""
    judging = Judging(exercise, claim, answer, companions, seed)
    failures = (_judge_case(judging, case) for case in first_cases(exercise, claim, seed))
    return next((failure for failure in failures if failure is not None), None)


def _judge_case(judging, case):
    """Try every way to pass the inputs: one that holds is enough.

    If none does, the first that gave values tells most, and where none gave any, the last one:
    the learner's own.
    """
    failures = []
    for arguments in judging.exercise.arguments(case.inputs, judging.companions):
        failure = _try(judging, case, arguments)
        if failure is None:
            return None
        failures.append(failure)
    return next((failure for failure in failures if not failure.unusable), failures[-1])


def _try(judging, case, arguments):
    """Judge what comes back for these arguments."""
    try:
        trial = judging.trial(case, arguments)
        fault = judging.claim.judge(trial)
    except Unwritten as reason:
        return judging.failed(str(reason), unusable=True, repeatable=False)
    except Unusable as reason:
        question = _example_question(judging, case)
        evidence = [str(reason)] if question else []
        public = question or reason.public
        return judging.failed(
            question or str(reason), evidence=evidence, unusable=True, public=public
        )
    if fault is None:
        return None
    questions, names = _diagnose(judging, case, trial, fault)
    sentence = "\nOr: ".join(questions) or f"This does not hold yet: {judging.claim.says}"
    evidence = [fault.evidence, f"The input: {case.about} ({shapes(arguments)})."]
    return judging.failed(sentence, evidence=evidence, mistakes=names, values=fault.values)


def _diagnose(judging, case, trial, fault):
    """Find questions for a fault: the catalogue's, the judge's own, or that of the example."""
    mistakes = fitting_mistakes(judging, case, trial.reply)
    if mistakes:
        return [m.question for m in mistakes], [m.name for m in mistakes]
    if fault.question:
        return [fault.question], [fault.mistake]
    question = _example_question(judging, case)
    return ([question], ["example_written_in"]) if question else ([], [])


def _example_question(judging, case):
    """Ask about the text's example where an answer is right at its sizes, though not elsewhere.

    Only sizes may differ between the two: an answer for other dtypes or numbers of axes than the
    example's has another kind of fault.
    """
    if judging.exercise.example is None:
        return ""
    example = judging.exercise.example(np.random.default_rng(judging.seed))
    if _kinds(example) != _kinds(case):
        return ""
    arguments = next(iter(judging.exercise.arguments(example.inputs, judging.companions)))
    try:
        fault = judges.agrees(judging.trial(example, arguments))
    except Unusable:
        return ""
    if fault or _right_at_other_sizes(judging):
        return ""
    question = "Is a size of that example written into your function?"
    return f"It is right for {example.about}, and wrong here. {question}"


def _right_at_other_sizes(judging):
    """Tell whether the first claim holds, whose cases are ordinary: then no size is to blame."""
    first = next(iter(judging.exercise.claims.values()))
    if first is judging.claim:
        return False
    found = judge(judging.exercise, first, judging.answer, judging.companions, judging.seed)
    return found is None


def _kinds(case):
    """Describe the inputs of a case without their sizes."""
    arrays = ((name, np.asarray(value)) for name, value in case.inputs.items())
    return {name: (array.ndim, array.dtype) for name, array in arrays}
