"""Central differences: their claims and cases."""

import numpy as np

from grader.checks.block.errors import all_zero, measured, right_in_float64
from grader.checks.block.known_slopes import bowl, cubes, reference, waves
from grader.checks.block.slopes_mistakes import MISTAKES
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import leaves_arguments

LOOSE = 1e-8  # a central difference with a good step is 100 times nearer than this


def _case(f, x, about, step=None):
    inputs = {"f": f, "x": x} if step is None else {"f": f, "x": x, "step": step}
    return Case(inputs, about, LOOSE)


def _below_one(rng, shape):
    return rng.uniform(0.2, 0.95, size=shape) * rng.choice([-1.0, 1.0], size=shape)


def _central(rng):
    yield _case(bowl, _below_one(rng, 5), "a quadratic function, step 0.1", 0.1)
    yield _case(waves, _below_one(rng, 7), "a sum of sines, the step of the signature")


def _step(rng):
    yield _case(cubes, _below_one(rng, 5), "a sum of third powers, step 0.25", 0.25)
    yield _case(waves, _below_one(rng, 3), "a sum of sines, step 0.5", 0.5)


def _shapes(rng):
    yield _case(waves, _below_one(rng, (3, 5)), "an array of two axes")
    yield _case(bowl, _below_one(rng, (2, 3, 5)), "an array of three axes")
    yield _case(waves, np.asfortranarray(_below_one(rng, (3, 5))), "columns first in memory")
    yield _case(waves, np.array(_below_one(rng, ())), "one number, without axes")


def _integers(rng):
    x = rng.permutation(np.arange(-3, 6))[:5]
    yield _case(bowl, x, "an array of whole numbers")


def _single(rng):
    x = _below_one(rng, 5).astype(np.float32)
    yield _case(waves, x, "an array in float32")


def _large(rng):
    x = 1e6 * _below_one(rng, 5)
    yield _case(cubes, x, "entries of about a million")


def _zero(rng):
    x = _below_one(rng, 5)
    x[rng.permutation(5)[:2]] = 0.0
    yield _case(waves, x, "two entries that are exactly zero")


def _untouched(rng):
    yield _case(waves, _below_one(rng, (3, 5)), "two axes, looked at again after the call")


SLOPES = Exercise(
    name="numerical_gradient",
    returns=("gradient",),
    reference=reference,
    claims=by_name(
        Claim(
            "central",
            "Each entry gets the slope between a point on its right and one on its left.",
            _central,
            ("gradient",),
            measured(),
        ),
        Claim("step", "The step that is passed is used.", _step, ("gradient",), measured()),
        Claim(
            "shapes",
            "The gradient has the shape of x, whatever its axes and its order in memory.",
            _shapes,
            ("gradient",),
            measured(
                "Is it x that you move, or a copy that f never sees? Flattening can make one.",
                "copy_moved",
                all_zero,
            ),
        ),
        Claim(
            "integers",
            "An array of whole numbers gets its slopes, too.",
            _integers,
            ("gradient",),
            measured(
                "x holds whole numbers. What is left of x + step in an array of such?",
                "cut_off",
                right_in_float64,
            ),
        ),
        Claim(
            "float32",
            "x in float32 is moved in float64.",
            _single,
            ("gradient",),
            measured(
                "x is in float32. In which dtype are the points at which you evaluate f?",
                "single",
                right_in_float64,
            ),
        ),
        Claim(
            "large",
            "Large entries get a step that grows with them.",
            _large,
            ("gradient",),
            measured(
                "The entries are about a million. What is your step beside that?", "step_too_small"
            ),
        ),
        Claim(
            "zero",
            "An entry of zero gets a step, too.",
            _zero,
            ("gradient",),
            measured(),
        ),
        Claim("untouched", "x is left as it was.", _untouched, ("gradient",), leaves_arguments),
    ),
    mistakes=MISTAKES,
)
