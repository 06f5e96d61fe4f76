"""A judge of counts: they are exact, so the difference itself tells what was missed."""

from dataclasses import replace

from grader.checks.engine.judges import Fault, agrees

NEAR = 0.02  # relative: so near that one part of the model explains the difference


def counts(trial):
    """Find the count that is not exact, and by how many it is off."""
    fault = agrees(trial)
    if fault is None or fault.values is None or fault.values[0].size != 1:
        return fault
    want, got = (value.item() for value in fault.values)
    name = next(n for n in trial.outputs if agrees(replace(trial, outputs=(n,))) is not None)
    return _off_by(name, want, got)


def _off_by(name, want, got):
    """Say both numbers in full; where they are near, ask which part is as large as the gap."""
    gap = f"{_full(abs(got - want))} too {'many' if got > want else 'few'}"
    evidence = f"{name} should be {_full(want)}: it is {_full(got)}, {gap}."
    if abs(got - want) > NEAR * want:
        return Fault(evidence)
    question = f"You are {gap}. Which part has exactly that many? If none has, do you round?"
    return Fault(evidence, question, "off_by_a_part")


def _full(number):
    """Write a number with all its digits, and a fraction only where there is one."""
    return f"{number:,.0f}" if number % 1 == 0 else f"{number:,.3f}"
