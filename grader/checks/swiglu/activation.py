"""The gate's activation: the sigmoid and SiLU."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import Fault, agrees, keeps_dtype
from grader.checks.swiglu.formulas import gelu, relu, sigmoid, slope
from transformer_block import swiglu


def never_overflows(trial):
    """Compare the values; then find a number that became too large on the way to them."""
    fault = agrees(trial)
    heard = [text for text in trial.reply.warned if "overflow" in text or "invalid" in text]
    if fault is None and heard:
        return Fault(
            f"The values are right, and NumPy warned: {heard[0]}.",
            "How large is exp(1000)? Which of your lines computes it, even where it is not used?",
            "overflows",
        )
    return fault


def between(rng, low, high):
    """Draw rows of numbers between two bounds."""
    return rng.uniform(low, high, size=witness.shape(rng))


def both_signs(rng):
    """Yield ordinary numbers of both signs, and zero."""
    yield Case({"x": between(rng, -4, 4)}, "numbers from −4 to 4")
    yield Case({"x": between(rng, -0.1, 0.1)}, "numbers near zero")
    yield Case({"x": np.append(rng.uniform(-2, 2, size=4), 0.0)}, "a row that ends in 0")


def _positive(rng):
    yield Case({"x": between(rng, 0.2, 6)}, "numbers from 0.2 to 6")


def _negative(rng):
    yield Case({"x": between(rng, -3, -0.2)}, "numbers from −3 to −0.2")
    yield Case({"x": between(rng, -8, -3)}, "numbers from −8 to −3")


def far(rng):
    """Yield numbers whose exponential, or that of their negative, is no float any more."""
    ends = [-1000.0, -40.0, 40.0, 1000.0]
    near = rng.uniform(-3, 3, size=(3, 1))
    x = np.concatenate([np.tile(ends, (3, 1)), near], axis=-1)
    yield Case({"x": x}, "numbers as far out as −1000 and 1000")


def _single(rng):
    x = between(rng, -4, 4).astype(np.float32)
    yield Case({"x": x}, "x in float32", 1e-5)


def named(output):
    """Give a formula's value the name of the output that it computes."""
    return lambda formula: lambda x: {output: formula(x)}


_out = named("out")


SIGMOID = Exercise(
    name="sigmoid",
    returns=("out",),
    reference=_out(swiglu.sigmoid),
    claims=by_name(
        Claim("value", "Each number becomes 1 / (1 + exp(−x)).", both_signs, ("out",)),
        Claim(
            "far",
            "At −1000 it is 0, at 1000 it is 1, and nothing overflows unnoticed.",
            far,
            ("out",),
            never_overflows,
        ),
        Claim("types", "float32 goes in and float32 comes out.", _single, ("out",), keeps_dtype),
    ),
    mistakes=(
        Mistake(
            "sign",
            "Does your function rise or fall? Which sign has x in the exponent?",
            _out(lambda x: sigmoid(-x)),
        ),
        Mistake(
            "tanh",
            "Your values go from −1 to 1. Between which two should they lie?",
            _out(np.tanh),
        ),
        Mistake(
            "twice_as_steep",
            "What is the slope at 0: 1/4, or 1/2? If you use tanh, of which number?",
            _out(lambda x: sigmoid(2 * x)),
        ),
        Mistake(
            "size_in_exponent",
            "Your function gives the same for −3 and for 3. What should the two add up to?",
            _out(lambda x: sigmoid(np.abs(x))),
        ),
        Mistake(
            "inverse_missing",
            "Your values are above 1. Is there a division to come?",
            _out(lambda x: 1 + np.exp(-x)),
        ),
        Mistake(
            "one_missing",
            "What keeps the result below 1 for positive x? Is it in your denominator?",
            _out(np.exp),
        ),
        Mistake(
            "softmax",
            "Do the numbers of a row compete in your function? Each stands alone here.",
            _out(lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)),
        ),
        Mistake(
            "straight_line",
            "Is your function made of straight pieces? Where is the exponential?",
            _out(lambda x: np.clip(x / 6 + 0.5, 0, 1)),
        ),
        Mistake(
            "infinity_over_infinity",
            "At x = 1000 you divide inf by inf. Which other form has no large number in it there?",
            _out(lambda x: np.exp(x) / (1 + np.exp(x))),
        ),
        Mistake(
            "slope",
            "Is this the sigmoid, or its derivative?",
            _out(lambda x: sigmoid(x) * (1 - sigmoid(x))),
        ),
    ),
)

SILU = Exercise(
    name="silu",
    returns=("out",),
    reference=_out(swiglu.silu),
    claims=by_name(
        Claim("value", "A positive number is multiplied by its sigmoid.", _positive, ("out",)),
        Claim(
            "negative", "A negative number is multiplied by its sigmoid too.", _negative, ("out",)
        ),
        Claim(
            "far",
            "At −1000 it is 0, at 1000 it is 1000, and nothing overflows unnoticed.",
            far,
            ("out",),
            never_overflows,
        ),
    ),
    mistakes=(
        Mistake(
            "sigmoid", "Your values never exceed 1. What is the sigmoid a factor of?", _out(sigmoid)
        ),
        Mistake("relu", "Is your function smooth at 0, or does it have a corner?", _out(relu)),
        Mistake(
            "size_in_sigmoid",
            "At x = −3, is your factor near 0 or near 1? Of which number do you take the sigmoid?",
            _out(lambda x: x * sigmoid(np.abs(x))),
        ),
        Mistake(
            "cut_at_zero",
            "What should come out at x = −1: exactly 0, or a little less?",
            _out(lambda x: relu(x) * sigmoid(x)),
        ),
        Mistake(
            "sign",
            "Does your function let large positive numbers through? Which sign is in the exponent?",
            _out(lambda x: x * sigmoid(-x)),
        ),
        Mistake("gelu", "Is this SiLU, or its relative with tanh and x³ inside?", _out(gelu)),
        Mistake(
            "gelu_by_sigmoid",
            "Is there a factor in front of x inside your sigmoid? What should it be?",
            _out(lambda x: x * sigmoid(1.702 * x)),
        ),
        Mistake("slope", "Is this SiLU, or its derivative?", _out(slope)),
        Mistake(
            "softplus",
            "You have a logarithm in it. What is x multiplied by in SiLU?",
            _out(lambda x: np.log1p(np.exp(-np.abs(x))) + relu(x)),
        ),
        Mistake(
            "tanh",
            "Which function squashes x here: tanh, or the sigmoid?",
            _out(lambda x: x * np.tanh(x)),
        ),
        Mistake(
            "squared",
            "How often is x a factor in SiLU?",
            _out(lambda x: x * x * sigmoid(x)),
        ),
        Mistake(
            "infinity_over_infinity",
            "At x = 1000 you divide inf by inf. Which other form has no large number in it there?",
            _out(lambda x: x * (np.exp(x) / (1 + np.exp(x)))),
        ),
    ),
)
