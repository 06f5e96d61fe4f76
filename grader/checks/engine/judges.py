"""Judges: each looks at one trial and returns the `Fault` that it finds, or ``None``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.checks.engine.calling import Reply, describe
from grader.checks.engine.comparing import agree, as_numbers, farthest

NEARLY = 1e-4  # relative; a finite difference in float64 or a formula in float32 come this near


@dataclass(frozen=True)
class Trial:
    """One call that was made: what went in, what came out, what was wanted."""

    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]  # the ones that the claim is about
    reply: Reply
    again: Callable[[], Reply]  # makes the same call a second time
    wanted: Mapping[str, np.ndarray]
    tolerance: float
    ask: Callable[[Mapping[str, Any]], Mapping[str, object]]  # calls again: arguments → outputs


@dataclass(frozen=True)
class Fault:
    """What is wrong with a trial, and where the form of it tells the mistake: its question."""

    evidence: str
    question: str = ""
    mistake: str = ""
    values: tuple[np.ndarray, np.ndarray] | None = None  # wanted and received, of one shape


def agrees(trial):
    """Find the output that differs from what was wanted, where and by how much."""
    for name in trial.outputs:
        if name not in trial.reply.outputs:
            return Fault(f"{name} is missing: there is {', '.join(map(str, trial.reply.outputs))}.")
        fault = _difference(name, trial.reply.outputs[name], trial.wanted[name], trial.tolerance)
        if fault:
            return fault
    return None


def _difference(name, value, want, tolerance):
    """Compare one output with what was wanted; the fault keeps both, for a picture."""
    got, want = as_numbers(value), as_numbers(want)
    if got is None:
        wanted = "an array of real numbers" if want.ndim else "a real number"
        return Fault(f"{name} should be {wanted}: it is {describe(value)}.")
    if got.size == want.size == 1:
        got = got.reshape(want.shape)
    if got.shape != want.shape:
        return Fault(
            f"{name} should have shape {want.shape}: it has shape {got.shape}.",
            f"{name} has another shape than it should. Which axis is lost, kept or doubled?",
            "shape",
        )
    if agree(got, want, tolerance):
        return None
    values = (want, got)
    index = farthest(got, want)
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    nearly = agree(got, want, NEARLY)
    digits = 12 if nearly else 6
    evidence = f"{where} should be {want[index]:.{digits}g}: it is {got[index]:.{digits}g}."
    if tolerance < NEARLY and nearly:
        return Fault(
            evidence,
            "Close, but a formula in float64 comes closer. Is a number rounded or cut off, a small "
            "one added, float32 used, or a finite difference handed in for the formula?",
            "nearly_right",
            values,
        )
    return Fault(evidence, values=values)


def keeps_dtype(trial):
    """Find the output whose dtype is not ``x``'s; then compare the values.

    Manners count for right values only: else an answer that returns its argument would earn them.
    """
    wanted = trial.inputs["x"].dtype
    for name in trial.reply.outputs.keys() & trial.outputs:
        value = trial.reply.outputs[name]
        if isinstance(value, list):
            return Fault(f"{name} came back as a list: a list has no dtype of its own.")
        got = np.asarray(value).dtype
        if got != wanted:
            return Fault(
                f"x is {wanted}, but {name} came back as {got}.",
                "The answer has another dtype than x. Which line brings it in?",
                "dtype_leaks",
            )
    return values_first(trial)


def leaves_arguments(trial):
    """Find an argument that was written into, or an output that a second call changes."""
    if trial.reply.changed:
        return Fault(
            f"The call changed its argument {' and '.join(trial.reply.changed)}.",
            "Does a line write into an array that belongs to the caller, "
            "with `+=`, `*=` or `[...] =`?",
            "writes_into_arguments",
        )
    again = trial.again()
    for name in trial.outputs:
        first, second = (as_numbers(r.outputs.get(name)) for r in (trial.reply, again))
        if first is None or second is None or not agree(first, second, 1e-12):
            return Fault(
                f"A second call with the same arguments gave another {name}.",
                "What does the function remember from one call to the next?",
                "remembers",
            )
    return values_first(trial)


def values_first(trial):
    """Compare the values where the manners are good: the claim's own words would mislead."""
    fault = agrees(trial)
    if fault is None or fault.question:
        return fault
    return replace(
        fault,
        question="This check counts for right values only, and yours are not right yet. "
        "What do the checks above it say?",
        mistake="values_first",
    )
