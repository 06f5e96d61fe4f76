"""LayerNorm through RMSNorm: the same length, one direction less."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.rmsnorm.formulas import centred, inv_rms
from transformer_block.layernorm import layernorm_forward


def _case(rng, eps, about, scale=1.0, leading=1):
    shape = witness.shape(rng, leading)
    d = shape[-1]
    inputs = {
        "x": witness.rows(rng, shape, scale) + 3 * scale,
        "weight": witness.gain(rng, d),
        "bias": witness.rows(rng, (d,)),
        "eps": eps,
    }
    return Case(inputs, about)


def _value(rng):
    yield _case(rng, 0.0, "rows whose mean is not zero, ε = 0")
    yield _case(rng, 0.0, "the same with two leading axes, ε = 0", leading=2)


def _eps(rng):
    yield _case(rng, 0.1, "rows whose mean is not zero, ε = 0.1")
    yield _case(rng, 1e-5, "small rows, ε = 1e-5", 1e-3)


def _out(formula):
    return lambda **inputs: {"out": formula(**inputs)}


LAYERNORM = Exercise(
    name="layernorm_from_rmsnorm",
    returns=("out",),
    reference=_out(lambda **inputs: layernorm_forward(**inputs)[0]),
    claims=by_name(
        Claim("value", "The result is LayerNorm's, gain and bias included.", _value, ("out",)),
        Claim(
            "eps",
            "It is LayerNorm's where ε counts, too, and x is left as it was.",
            _eps,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        Mistake(
            "not_centred",
            "What is left of a row in which all entries are equal? LayerNorm answers: nothing.",
            _out(lambda x, weight, bias, eps: x * inv_rms(x, eps) * weight + bias),
        ),
        Mistake(
            "centred_too_late",
            "Is the RMS taken of the row, or of the row less its mean?",
            _out(lambda x, weight, bias, eps: centred(x) * inv_rms(x, eps) * weight + bias),
        ),
        Mistake(
            "only_length_centred",
            "You take the RMS of the centred row. What do you divide by it?",
            _out(lambda x, weight, bias, eps: x * inv_rms(centred(x), eps) * weight + bias),
        ),
        Mistake(
            "mean_of_everything",
            "Whose mean is subtracted: the row's own, or that of all rows together?",
            _out(
                lambda x, weight, bias, eps: (
                    (x - np.mean(x)) * inv_rms(x - np.mean(x), eps) * weight + bias
                )
            ),
        ),
        Mistake(
            "mean_of_feature",
            "Along which axis is the mean taken? Each row has its own.",
            _out(
                lambda x, weight, bias, eps: (
                    (x - np.mean(x, axis=0)) * inv_rms(x - np.mean(x, axis=0), eps) * weight + bias
                )
            ),
        ),
        Mistake(
            "gain_twice",
            "rmsnorm_forward applies a gain already. How often is it in your result?",
            _out(
                lambda x, weight, bias, eps: (
                    centred(x) * inv_rms(centred(x), eps) * weight * weight + bias
                )
            ),
        ),
        Mistake(
            "bias_subtracted",
            "Which sign has the bias?",
            _out(
                lambda x, weight, bias, eps: centred(x) * inv_rms(centred(x), eps) * weight - bias
            ),
        ),
        Mistake(
            "bias_missing",
            "Where does the bias come in?",
            _out(lambda x, weight, bias, eps: centred(x) * inv_rms(centred(x), eps) * weight),
        ),
        Mistake(
            "bias_scaled",
            "Is the bias added before or after the gain?",
            _out(
                lambda x, weight, bias, eps: (centred(x) * inv_rms(centred(x), eps) + bias) * weight
            ),
        ),
        Mistake(
            "gain_missing",
            "Where does the gain come in?",
            _out(lambda x, weight, bias, eps: centred(x) * inv_rms(centred(x), eps) + bias),
        ),
        Mistake(
            "eps_outside",
            "Is ε inside the square root in the norm that you use?",
            _out(
                lambda x, weight, bias, eps: (
                    centred(x) / (np.std(x, axis=-1, keepdims=True) + eps) * weight + bias
                )
            ),
        ),
        Mistake(
            "eps_not_passed",
            "Does your function pass its own ε on?",
            _out(
                lambda x, weight, bias, eps: centred(x) * inv_rms(centred(x), 1e-5) * weight + bias
            ),
        ),
        Mistake(
            "one_less",
            "Is the variance divided by d or by d − 1?",
            _out(
                lambda x, weight, bias, eps: (
                    centred(x) / np.sqrt(np.var(x, axis=-1, keepdims=True, ddof=1) + eps) * weight
                    + bias
                )
            ),
        ),
    ),
)
