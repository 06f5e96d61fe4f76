"""The backward pass, equation (22.3), with the gain's gradient."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.rmsnorm.derivation import PULL_BACK_MISTAKES
from grader.checks.rmsnorm.formulas import dot, inv_rms, pull_back
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def _arguments(inputs, companions):
    """Pass the cache of the listings, or the one that the learner's own forward makes."""
    x, weight, eps = inputs["x"], inputs["weight"], inputs["eps"]
    yield {"dout": inputs["dout"], "cache": rmsnorm_forward(x, weight, eps)[1]}
    if "forward" in companions:
        yield from cache_of(companions["forward"], inputs["dout"], x, weight, eps)


def _reference(dout, x, weight, eps):
    dx, dweight = rmsnorm_backward(dout, rmsnorm_forward(x, weight, eps)[1])
    return {"dx": dx, "dweight": dweight}


def _case(rng, shape, eps, about, scale=1.0, dtype=np.float64, tolerance=1e-9):
    inputs = {
        "dout": witness.rows(rng, shape).astype(dtype),
        "x": witness.rows(rng, shape, scale).astype(dtype),
        "weight": witness.gain(rng, shape[-1]).astype(dtype),
        "eps": eps,
    }
    return Case(inputs, about, tolerance)


def _cases(rng):
    yield _case(rng, witness.shape(rng), 1e-5, "ordinary rows, ε = 1e-5")
    yield _case(rng, witness.shape(rng), 0.1, "ordinary rows, ε = 0.1")
    yield _case(rng, witness.shape(rng), 1e-8, "rows of size 1e-4, ε = 1e-8", scale=1e-4)
    yield _case(rng, witness.shape(rng, 2), 0.1, "two leading axes, ε = 0.1")


def _dweight_cases(rng):
    yield from _cases(rng)
    yield _case(rng, witness.shape(rng, 0), 0.1, "one row without leading axes, ε = 0.1")


def _manners_cases(rng):
    shape = witness.shape(rng, 2)
    yield _case(rng, shape, 1e-5, "all arrays in float32", dtype=np.float32, tolerance=1e-4)


def _untouched_cases(rng):
    yield _case(rng, witness.shape(rng, 2), 1e-5, "ordinary rows, looked at again after the call")


def _through_gain(formula):
    """Make a mistake in the pull-back one of the whole backward pass."""
    return lambda dout, x, weight, eps: {"dx": formula(dout * weight, x, eps)}


def _dx(formula):
    return lambda dout, x, weight, eps: {"dx": formula(dout, x, weight, eps)}


def _dweight(formula):
    """Make a mistake in the gain's gradient; it is given the normalised rows."""
    return lambda dout, x, weight, eps: {"dweight": formula(dout, x, weight, x * inv_rms(x, eps))}


def _over_tokens(array):
    return np.sum(array, axis=tuple(range(array.ndim - 1)))


def _rank_one(c, x, eps):
    return x * inv_rms(x, eps) ** 3 * c / x.shape[-1]


def _only_batch(dout, x, weight, normalized):
    """Sum over the first of two leading axes and leave the second."""
    if dout.ndim < 3:
        raise ValueError("only two leading axes show this mistake")
    return np.sum(dout * normalized, axis=0)


GAIN_MISTAKES = (
    Mistake(
        "gain_missing",
        "Where does the gradient pass through the gain on its way to x?",
        _dx(lambda dout, x, weight, eps: pull_back(dout, x, eps)),
    ),
    Mistake(
        "gain_missing_in_c",
        "c is a sum over z̄, the gradient after the gain. Which gradient do you sum?",
        _dx(
            lambda dout, x, weight, eps: (
                inv_rms(x, eps) * dout * weight - _rank_one(dot(dout, x), x, eps)
            )
        ),
    ),
    Mistake(
        "gain_only_in_c",
        "The gain is in your c. Is it in the first term too?",
        _dx(
            lambda dout, x, weight, eps: (
                inv_rms(x, eps) * dout - _rank_one(dot(dout * weight, x), x, eps)
            )
        ),
    ),
    Mistake(
        "gain_last",
        "In the backward pass, which comes first: the gain or the normalisation?",
        _dx(lambda dout, x, weight, eps: weight * pull_back(dout, x, eps)),
    ),
    Mistake(
        "gain_twice",
        "How often does the gradient pass through the gain on its way to x?",
        _dx(lambda dout, x, weight, eps: pull_back(dout * weight * weight, x, eps)),
    ),
    Mistake(
        "dweight_of_everything",
        "Your dweight is one number. How many does the gain have?",
        _dweight(lambda dout, x, weight, normalized: np.sum(dout * normalized)),
    ),
    Mistake(
        "dweight_from_x",
        "What does the gain multiply in the forward pass: x, or the normalised row?",
        _dweight(lambda dout, x, weight, normalized: _over_tokens(dout * x)),
    ),
    Mistake(
        "dweight_not_summed",
        "The gain has d numbers and every token uses them. What becomes of the tokens' shares?",
        _dweight(lambda dout, x, weight, normalized: dout * normalized),
    ),
    Mistake(
        "dweight_only_batch",
        "Over which axes do you sum the gain's gradient? Try an input with two leading axes.",
        _dweight(_only_batch),
    ),
    Mistake(
        "dweight_mean",
        "Are the tokens' shares of the gain's gradient added, or averaged?",
        _dweight(
            lambda dout, x, weight, normalized: (
                _over_tokens(dout * normalized) * x.shape[-1] / x.size
            )
        ),
    ),
    Mistake(
        "dweight_of_bias",
        "Your dweight is what a bias would get. What did the gain multiply?",
        _dweight(lambda dout, x, weight, normalized: _over_tokens(dout)),
    ),
    Mistake(
        "dweight_with_gain",
        "Does the gain itself belong into its own gradient?",
        _dweight(lambda dout, x, weight, normalized: _over_tokens(dout * weight * normalized)),
    ),
    Mistake(
        "dweight_over_features",
        "Your dweight has one number per token. Which axis belongs to the gain?",
        _dweight(lambda dout, x, weight, normalized: np.sum(dout * normalized, axis=-1)),
    ),
)

BACKWARD = Exercise(
    name="rmsnorm_backward",
    returns=("dx", "dweight"),
    reference=_reference,
    claims=by_name(
        Claim("dx", "dx is (22.3), applied to z̄, the gradient after the gain.", _cases, ("dx",)),
        Claim("dweight", "dweight is one sum over all tokens.", _dweight_cases, ("dweight",)),
        Claim(
            "types",
            "float32 goes in and float32 comes out.",
            _manners_cases,
            ("dx", "dweight"),
            keeps_dtype,
        ),
        Claim(
            "untouched",
            "dout and the cache are left as they were.",
            _untouched_cases,
            ("dx", "dweight"),
            leaves_arguments,
        ),
    ),
    mistakes=(
        *(Mistake(m.name, m.question, _through_gain(m.outputs)) for m in PULL_BACK_MISTAKES),
        *GAIN_MISTAKES,
    ),
    arguments=_arguments,
    companions={"forward": "rmsnorm_forward"},
)
