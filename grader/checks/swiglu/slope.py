"""The slope of SiLU."""

import numpy as np

from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.swiglu.activation import between, both_signs, far, named
from grader.checks.swiglu.formulas import sigmoid, silu
from transformer_block import swiglu

BOTTOM = -1.2784645427610738  # where SiLU is smallest


def _dip(rng):
    x = BOTTOM + between(rng, -1e-4, 1e-4)
    yield Case({"x": x}, "numbers within 1e-4 of the bottom of SiLU's dip")


_slope = named("slope")


def _by_quotient(x):
    """Differentiate x / (1 + exp(-x)) by the quotient rule and leave it so."""
    e = np.exp(-x)
    return (1 + e + x * e) / (1 + e) ** 2


SLOPE = Exercise(
    name="silu_derivative",
    returns=("slope",),
    reference=_slope(swiglu.silu_derivative),
    claims=by_name(
        Claim("value", "This is the derivative of x σ(x).", both_signs, ("slope",)),
        Claim(
            "dip",
            "Beside the bottom of the dip the slope is right to nine digits.",
            _dip,
            ("slope",),
        ),
        Claim("far", "At −1000 it is 0 and at 1000 it is 1.", far, ("slope",)),
    ),
    mistakes=(
        Mistake(
            "second_factor_fixed",
            "x σ(x) is a product. Where is the term in which x stays and the sigmoid moves?",
            _slope(sigmoid),
        ),
        Mistake(
            "first_factor_fixed",
            "x σ(x) is a product. Where is the term in which the sigmoid stays and x moves?",
            _slope(lambda x: x * sigmoid(x) * (1 - sigmoid(x))),
        ),
        Mistake(
            "of_sigmoid",
            "Whose derivative is this: the sigmoid's, or that of x times the sigmoid?",
            _slope(lambda x: sigmoid(x) * (1 - sigmoid(x))),
        ),
        Mistake(
            "x_lost",
            "In the second term of the product rule, which factor stands beside the derivative?",
            _slope(lambda x: sigmoid(x) * (2 - sigmoid(x))),
        ),
        Mistake(
            "sign",
            "With which sign does the product rule join its two terms? Does the sigmoid rise?",
            _slope(lambda x: sigmoid(x) * (1 - x * (1 - sigmoid(x)))),
        ),
        Mistake(
            "square_for_product",
            "What is the derivative of the sigmoid in terms of itself? Look at its second factor.",
            _slope(lambda x: sigmoid(x) * (1 + x * sigmoid(x))),
        ),
        Mistake(
            "one_minus_silu",
            "In the bracket, is it 1 − σ(x) or 1 − SiLU(x)?",
            _slope(lambda x: sigmoid(x) * (1 + x * (1 - silu(x)))),
        ),
        Mistake(
            "one_minus_x",
            "In the bracket, what is subtracted from 1 beside x: x itself?",
            _slope(lambda x: sigmoid(x) * (1 + x * (1 - x))),
        ),
        Mistake(
            "sigmoid_lost",
            "Which factor do both terms of the product rule share? Is it still in front?",
            _slope(lambda x: 1 + x * (1 - sigmoid(x))),
        ),
        Mistake(
            "sigmoid_of_second_term_lost",
            "In your second term, is 1 − σ all of the sigmoid's derivative?",
            _slope(lambda x: sigmoid(x) + x * (1 - sigmoid(x))),
        ),
        Mistake(
            "plus_sigmoid",
            "In the bracket, with which sign does σ stand beside the 1 that multiplies x?",
            _slope(lambda x: sigmoid(x) * (1 + x * (1 + sigmoid(x)))),
        ),
        Mistake(
            "bracket_closed_early",
            "What does 1 − σ multiply: x alone, or the 1 in front of it too?",
            _slope(lambda x: sigmoid(x) * (1 + x) * (1 - sigmoid(x))),
        ),
        Mistake(
            "silu_lost",
            "SiLU′ can be written as SiLU plus something. Is the first part in your sum?",
            _slope(lambda x: sigmoid(x) * (1 - silu(x))),
        ),
        Mistake(
            "factor_lost",
            "SiLU′ can be written as SiLU plus σ times something. Is the something in it?",
            _slope(lambda x: silu(x) + sigmoid(x)),
        ),
        Mistake(
            "of_relu",
            "Your slope has a step. Of which function is that the derivative?",
            _slope(lambda x: (x > 0).astype(x.dtype)),
        ),
        Mistake("not_differentiated", "Is this the slope, or SiLU itself?", _slope(silu)),
        Mistake(
            "infinity_over_infinity",
            "At x = −1000 you divide inf by inf. Can the slope be written with σ alone?",
            _slope(_by_quotient),
        ),
    ),
)
