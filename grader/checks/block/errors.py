"""Judges of what is measured: a finite difference and an error have no exact value to hit."""

from dataclasses import replace

import numpy as np

from grader.checks.engine.calling import Unusable, describe
from grader.checks.engine.comparing import as_numbers
from grader.checks.engine.judges import Fault, agrees, leaves_arguments

SMALL = 1e-5  # one-sided differences leave less of an error that should be zero
STEP_QUESTION = (
    "Close, but central differences in float64 come closer. "
    "Is your step too small or too large, or a number rounded?"
)

BLIND_QUESTION = (
    "A gradient is wrong, and your error for it is nearly zero. "
    "Which kind of fault does your comparison not see?"
)


def measured(question=STEP_QUESTION, mistake="coarse", fits=lambda trial, fault: True):
    """Make a judge of slopes that asks this where a value is off and its form fits the question."""

    def judge(trial):
        fault = agrees(trial)
        if fault is None or fault.mistake == "shape" or fault.values is None:
            return fault
        if question is STEP_QUESTION and fault.mistake != "nearly_right":
            return fault
        return replace(fault, question=question, mistake=mistake) if fits(trial, fault) else fault

    return judge


def right_in_float64(trial, fault):
    """Tell whether the same numbers in float64 get their slopes: then the dtype is to blame."""
    wide = {**trial.inputs, "x": trial.inputs["x"].astype(np.float64)}
    try:
        reply = replace(trial.reply, outputs=trial.ask(wide))
    except Unusable:
        return False
    return agrees(replace(trial, reply=reply)) is None


def all_zero(trial, fault):
    """Tell whether no move was felt."""
    return not np.any(fault.values[1])


def finds_errors(question="", mistake=""):
    """Make a judge of errors by name: each must come within `SMALL` of the wanted one.

    The question is for an error that is nearly zero and should not be.
    """

    def judge(trial):
        for name, want in trial.wanted.items():
            if name not in trial.reply.outputs:
                names = ", ".join(map(str, trial.reply.outputs)) or "nothing"
                return Fault(f"There is no error for {name!r}: there is {names}.")
            fault = _off(name, trial.reply.outputs[name], float(want))
            if fault:
                asks = question and fault.mistake == "blind"
                return replace(fault, question=question, mistake=mistake) if asks else fault
        return None

    return judge


def finds_errors_and_leaves_arguments(trial):
    """Find an argument that was written into; then compare the errors."""
    fault = leaves_arguments(trial)
    if fault and fault.mistake != "values_first":
        return fault
    return finds_errors()(trial)


def _off(name, value, want):
    got = as_numbers(value)
    if got is None or got.size != 1 or np.asarray(value).dtype == bool:
        return Fault(f"The error for {name!r} should be one number: it is {describe(value)}.")
    got = got.item()
    if abs(got - want) <= SMALL:
        return None
    wanted = f"be {want:.6g}" if want > SMALL else "be nearly zero (its gradient is right)"
    evidence = f"The error for {name!r} should {wanted}: it is {got:.6g}."
    return Fault(evidence, BLIND_QUESTION, "blind") if abs(got) <= SMALL else Fault(evidence)


def clear(errors):
    """Keep the errors that tell something: those which rounding does not make."""
    return {name: error for name, error in errors.items() if not error <= 10 * SMALL}
