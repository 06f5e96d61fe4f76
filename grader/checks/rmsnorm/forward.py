"""The forward pass, equation (22.2): its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.rmsnorm.formulas import centred, inv_rms, mean_square
from transformer_block.rmsnorm import rmsnorm_forward

HALF_TOLERANCE = 4e-3  # of float16, which keeps 11 bits
SINGLE_TOLERANCE = 1e-5


def _case(x, rng, eps, about, tolerance=1e-9, weight_dtype=np.float64):
    weight = witness.gain(rng, x.shape[-1]).astype(weight_dtype)
    return Case({"x": x, "weight": weight, "eps": eps}, about, tolerance)


def _value(rng):
    x = witness.rows(rng, witness.shape(rng))
    yield _case(x, rng, 0.0, "ordinary rows, ε = 0")
    yield _case(x + 3, rng, 0.0, "the same rows with 3 added to every entry, ε = 0")


def _eps(rng):
    shape = witness.shape(rng)
    yield _case(witness.rows(rng, shape, 1e-3), rng, 1e-5, "rows of size 1e-3, ε = 1e-5")
    yield _case(witness.rows(rng, shape), rng, 0.1, "ordinary rows, ε = 0.1")
    zeros = witness.rows(rng, shape)
    zeros[0] = 0.0
    yield _case(zeros, rng, 1e-5, "a row of zeros among others, ε = 1e-5")


def _rows(rng):
    for leading in (1, 2, 0):
        x = witness.uneven_rows(rng, witness.shape(rng, leading))
        yield _case(x, rng, 0.0, f"rows of very different size, leading axes: {leading}")


def _types(rng):
    shape = witness.shape(rng)
    x = witness.rows(rng, shape).astype(np.float32)
    yield _case(x, rng, 0.0, "x in float32, gain in float64, ε = 0", SINGLE_TOLERANCE)
    wide = witness.rows(rng, shape)
    yield _case(wide, rng, 0.0, "x in float64, gain in float32, ε = 0", weight_dtype=np.float32)
    large = witness.rows(rng, shape, 900.0).astype(np.float16)
    half = {"tolerance": HALF_TOLERANCE, "weight_dtype": np.float16}
    yield _case(large, rng, 1e-5, "x in float16, entries near 900", **half)
    small = witness.rows(rng, shape, 1e-4).astype(np.float16)
    yield _case(small, rng, 0.0, "x in float16, entries near 1e-4, ε = 0", **half)


def _untouched(rng):
    x = witness.rows(rng, witness.shape(rng, 2))
    yield _case(x, rng, 0.0, "ordinary rows, looked at again after the call, ε = 0")


def _example(rng):
    x = witness.rows(rng, (2, 4))
    return _case(x, rng, 0.0, "two rows of width 4, as in the page's example")


def _out(formula):
    """Make a mistake's outputs of a formula for ``out``, computed in float64."""
    return lambda x, weight, eps: {"out": formula(x.astype(np.float64), weight, eps)}


def _scaled(factor):
    """Make a mistake that multiplies x by another factor than the inverse RMS."""
    return _out(lambda x, weight, eps: weight * x * factor(x, eps))


def _over(square):
    """Make a mistake that takes another mean square."""
    return _scaled(lambda x, eps: 1.0 / np.sqrt(square(x) + eps))


def _in_half(x, weight, eps):
    """Square and average in float16, as no wider type is asked for."""
    if x.dtype != np.float16:
        raise ValueError("only float16 shows this mistake")
    return weight * x / np.sqrt(mean_square(x) + np.float16(eps))


FORWARD_MISTAKES = (
    Mistake(
        "eps_outside",
        "Is your ε inside the square root, next to the mean square?",
        _scaled(lambda x, eps: 1.0 / (np.sqrt(mean_square(x)) + eps)),
    ),
    Mistake(
        "eps_forgotten",
        "What does your function do with ε? Try a row of zeros.",
        _scaled(lambda x, eps: inv_rms(x, 0.0)),
    ),
    Mistake(
        "eps_fixed",
        "Does your function use the ε that it is given, or always the same number?",
        _scaled(lambda x, eps: inv_rms(x, 1e-5)),
    ),
    Mistake(
        "eps_squared",
        "Is ε itself added to the mean square, or its square?",
        _scaled(lambda x, eps: inv_rms(x, eps * eps)),
    ),
    Mistake(
        "eps_per_entry",
        "Is ε added once to the mean, or to every square before a sum?",
        _scaled(lambda x, eps: inv_rms(x, eps * x.shape[-1])),
    ),
    Mistake(
        "eps_before_division",
        "Is ε added to the mean, or to the sum, before it is divided by d?",
        _scaled(lambda x, eps: inv_rms(x, eps / x.shape[-1])),
    ),
    Mistake(
        "eps_as_floor",
        "Is ε added to the mean square, or only put in its place when that is smaller?",
        _scaled(lambda x, eps: 1.0 / np.sqrt(np.maximum(mean_square(x), eps))),
    ),
    Mistake(
        "eps_as_least_rms",
        "Is ε added under the root, or is it the least that you divide by?",
        _scaled(lambda x, eps: 1.0 / np.maximum(np.sqrt(mean_square(x)), eps)),
    ),
    Mistake(
        "eps_on_inverse",
        "Is ε added to the mean square, or to the factor 1/RMS?",
        _scaled(lambda x, eps: inv_rms(x, 0.0) + eps),
    ),
    Mistake(
        "centred",
        "Does RMSNorm subtract the mean? Compare a row with the same row plus 3.",
        _out(lambda x, weight, eps: weight * centred(x) * inv_rms(centred(x), eps)),
    ),
    Mistake(
        "variance",
        "Is it the variance that belongs under the root, or the mean of the squares?",
        _over(lambda x: np.var(x, axis=-1, keepdims=True)),
    ),
    Mistake(
        "root_twice",
        "How many square roots lie between the mean square and the RMS?",
        _scaled(lambda x, eps: 1.0 / np.sqrt(np.sqrt(mean_square(x) + eps))),
    ),
    Mistake(
        "root_missing",
        "You divide by a mean square. Which step makes a length of it?",
        _scaled(lambda x, eps: 1.0 / (mean_square(x) + eps)),
    ),
    Mistake(
        "multiplied",
        "If a row doubles, what should happen to its output? Do you divide by the RMS?",
        _scaled(lambda x, eps: np.sqrt(mean_square(x) + eps)),
    ),
    Mistake(
        "mean_of_sizes",
        "What is averaged: the sizes of the entries, or their squares?",
        _over(lambda x: np.mean(np.abs(x), axis=-1, keepdims=True) ** 2),
    ),
    Mistake(
        "mean_then_square",
        "Which comes first, the mean or the square?",
        _over(lambda x: np.mean(x, axis=-1, keepdims=True) ** 2),
    ),
    Mistake(
        "token_axis",
        "Along which axis do you average? Each token has its own RMS.",
        _over(lambda x: np.mean(x * x, axis=-2, keepdims=True)),
    ),
    Mistake(
        "first_axis",
        "You average along the first axis. Where are the features of one token?",
        _over(lambda x: np.mean(x * x, axis=0, keepdims=True)),
    ),
    Mistake(
        "all_tokens",
        "Do the tokens share one RMS in your code? Changing token 2 must not change token 1.",
        _over(lambda x: np.mean(x * x)),
    ),
    Mistake(
        "sequence",
        "Do all tokens of one sequence share an RMS in your code? What does keepdims keep?",
        _over(lambda x: np.mean(x * x, axis=(-2, -1), keepdims=True)),
    ),
    Mistake(
        "sum_for_mean",
        "Is it the sum of the squares or their mean? How does the result depend on d?",
        _over(lambda x: np.sum(x * x, axis=-1, keepdims=True)),
    ),
    Mistake(
        "divided_twice",
        "How often is the sum of squares divided by d?",
        _over(lambda x: mean_square(x) / x.shape[-1]),
    ),
    Mistake(
        "one_less",
        "Do you divide by d or by d − 1? A mean of d squares needs no correction.",
        _over(lambda x: np.sum(x * x, axis=-1, keepdims=True) / (x.shape[-1] - 1)),
    ),
    Mistake(
        "gain_missing",
        "Where does the gain come in? Try a gain that is not one.",
        _out(lambda x, weight, eps: x * inv_rms(x, eps)),
    ),
    Mistake(
        "gain_added",
        "Is the gain a factor or something that is added?",
        _out(lambda x, weight, eps: x * inv_rms(x, eps) + weight),
    ),
    Mistake(
        "gain_plus_one",
        "Is the gain here the factor itself, or what is added to one?",
        _out(lambda x, weight, eps: x * inv_rms(x, eps) * (1.0 + weight)),
    ),
    Mistake(
        "gain_before",
        "Does the gain come after the normalisation, or is it inside the RMS as well?",
        _out(lambda x, weight, eps: x * weight * inv_rms(x * weight, eps)),
    ),
    Mistake(
        "gain_twice",
        "How often does the gain multiply the row?",
        _out(lambda x, weight, eps: x * weight * weight * inv_rms(x, eps)),
    ),
    Mistake(
        "gain_divides",
        "Does the gain multiply the row, or divide it?",
        _out(lambda x, weight, eps: x * inv_rms(x, eps) / weight),
    ),
    Mistake(
        "gain_size_only",
        "A gain may be negative. What becomes of its sign?",
        _out(lambda x, weight, eps: x * inv_rms(x, eps) * np.abs(weight)),
    ),
    Mistake(
        "gain_averaged",
        "Does each feature get its own gain, or all the same?",
        _out(lambda x, weight, eps: x * inv_rms(x, eps) * np.mean(weight)),
    ),
    Mistake(
        "half_precision",
        "In which precision do you square? In float16, what are 900² and 1e-4²?",
        lambda **inputs: {"out": _in_half(**inputs)},
    ),
)

FORWARD = Exercise(
    name="rmsnorm_forward",
    returns=("out", "cache"),
    reference=lambda x, weight, eps: {"out": rmsnorm_forward(x, weight, eps)[0]},
    claims=by_name(
        Claim(
            "value",
            "Each row is divided by its root mean square and multiplied by the gain.",
            _value,
            ("out",),
        ),
        Claim("eps", "ε is added to the mean square, inside the root.", _eps, ("out",)),
        Claim(
            "rows",
            "Each row is normalised by itself, whatever axes come before it.",
            _rows,
            ("out",),
        ),
        Claim(
            "types",
            "out has the dtype of x, and float16 neither overflows nor vanishes on the way.",
            _types,
            ("out",),
            keeps_dtype,
        ),
        Claim(
            "untouched",
            "x and weight are left as they were, and a second call gives the same.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=FORWARD_MISTAKES,
    example=_example,
)
