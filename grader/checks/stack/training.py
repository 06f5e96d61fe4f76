"""A short training run: gradient descent on one text, and the loss before and after each step."""

import numpy as np

from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import Fault, agrees, leaves_arguments
from grader.checks.stack.inputs import stack
from grader.checks.stack.training_mistakes import MISTAKES, descend

RATE = 0.05  # small enough that rounding stays rounding over all steps


def _case(rng, about, n_steps, n_blocks=1):
    inputs = stack(rng, n_blocks)
    rate = RATE * float(rng.uniform(0.8, 1.2))
    return Case({**inputs, "rate": rate, "n_steps": n_steps}, about, 1e-7)


def _first(rng):
    yield _case(rng, "no step at all", 0)
    yield _case(rng, "one step", 1)


def _run(rng):
    yield _case(rng, "five steps with a stack of two blocks", 5, 2)


def _untouched(rng):
    yield _case(rng, "two steps, looked at again after the call", 2)


def _falls(trial):
    """Ask for the right losses, and let the one that rose say so."""
    fault = agrees(trial)
    losses = np.asarray(trial.reply.outputs["losses"], dtype=float).ravel()
    if fault and not fault.question and losses.size > 1 and not losses[-1] < losses[0]:
        return Fault(
            f"The loss went from {losses[0]:.4f} to {losses[-1]:.4f}.",
            "The loss does not fall. Are all gradients right, and do the steps go down?",
            "does_not_fall",
        )
    return fault


TRAINING = Exercise(
    name="training_losses",
    returns=("losses",),
    reference=descend,
    claims=by_name(
        Claim(
            "first",
            "The list begins with the loss before any step, and one step lowers it.",
            _first,
            ("losses",),
        ),
        Claim(
            "run",
            "Step after step the loss is that of gradient descent on all parameters.",
            _run,
            ("losses",),
            _falls,
        ),
        Claim(
            "untouched",
            "Neither ids nor params is written into, and a second run gives the same losses.",
            _untouched,
            ("losses",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
