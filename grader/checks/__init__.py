"""Checks that know the mistake: every graded exercise, its claims, its catalogue of mistakes."""

import difflib
import importlib
from contextvars import ContextVar

import numpy as np

from grader.checks.engine.failure import CheckFailed
from grader.checks.engine.judging import judge
from grader.checks.engine.picture import show

__all__ = ["SEED", "SHEETS", "CheckFailed", "check", "exercises", "find_exercise"]

SHEETS = (
    "attention",
    "block",
    "counting",
    "llama",
    "residual_stream",
    "rmsnorm",
    "stack",
    "swiglu",
)

# What marks a class sets this, so that all students of a sheet meet the same inputs.
SEED = ContextVar("SEED", default=None)


def exercises():
    """Return every exercise of the course by name, in the order of the sheets."""
    return {exercise.name: exercise for sheet in SHEETS for exercise in _exercises_of(sheet)}


def _exercises_of(sheet):
    """Import the checks of one sheet, which takes a moment, and return its exercises."""
    return importlib.import_module(f"grader.checks.{sheet}").EXERCISES


def find_exercise(name):
    """Return the exercise of this name; ``LookupError`` names the nearest one otherwise."""
    for sheet in sorted(SHEETS, key=lambda sheet: sheet not in name):  # rmsnorm_forward: rmsnorm
        for exercise in _exercises_of(sheet):
            if exercise.name == name:
                return exercise
    known = exercises()
    nearest = difflib.get_close_matches(name, known, n=1) or sorted(known)
    raise LookupError(f"no exercise is called {name!r}: did you mean {' or '.join(nearest)}?")


def check(answer, claim=None, *, exercise=None, seed=None, **companions):
    """Check an answer: one line of praise, or the question that finds the mistake.

    Parameters
    ----------
    answer : callable
        Your function. Its name tells which exercise it answers.
    claim : str, optional
        Check this claim alone; without it, all claims one after the other.
    exercise : str, optional
        The exercise's name, where the function has another one.
    seed : int, optional
        Repeats the inputs of an earlier check, which named this number.
    **companions : callable
        Functions that belong to the answer, such as ``forward=rmsnorm_forward`` for a backward
        pass that reads a cache of your own making.

    Raises
    ------
    CheckFailed
        An ``AssertionError`` whose text says what was wanted, what came, and on which input.
    LookupError
        If no exercise or claim has this name.
    TypeError
        If the answer is no function.
    """
    if not callable(answer):
        raise TypeError(
            f"check takes the function itself, without calling it: got a {type(answer).__name__}"
        )
    task = find_exercise(exercise or getattr(answer, "__name__", type(answer).__name__))
    claims = task.claims.values() if claim is None else [task.claim(claim)]
    seed = SEED.get() if seed is None else seed
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    for one in claims:
        failure = judge(task, one, answer, companions, seed)
        if failure is not None:
            show(failure)
            raise failure
    held = ", ".join(one.name for one in claims)
    print(f"✓ {task.name}: right ({held}).")
