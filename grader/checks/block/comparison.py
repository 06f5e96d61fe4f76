"""The gradient check: every tensor against differences, each by itself."""

import numpy as np

from grader.checks.block.comparison_mistakes import MISTAKES
from grader.checks.block.errors import (
    finds_errors,
    finds_errors_and_leaves_arguments,
)
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.travelling import travels
from transformer_block.gradcheck import STEP, gradient_check

CLOSE = 1e-5  # of an error: differences of one loss agree far better


@travels
def layer_loss(t):
    """Give the loss of a layer with a gain: three tensors, of which one is small."""
    return float(np.sum(np.sin(t["x"] @ t["W"]) * t["gain"]) + np.sum(t["W"]) ** 2 / 50)


@travels
def two_loss(t):
    """Give a loss of a matrix and of a tensor that it does not depend on."""
    return float(np.sum(np.sin(t["matrix"])) + 0 * np.sum(t["unused"]))


@travels
def uneven_loss(t):
    """Give a loss that hears a large tensor loudly and a single number hardly."""
    return float(np.sum(np.cos(t["big"])) + 1e-3 * np.sum(np.sin(t["small"])))


def _below_one(rng, shape):
    return rng.uniform(0.2, 0.95, size=shape) * rng.choice([-1.0, 1.0], size=shape)


def _layer(rng):
    x = _below_one(rng, (3, int(rng.choice([2, 5]))))  # where every entry gets the same step
    W, gain = _below_one(rng, (x.shape[1], 7)), _below_one(rng, 7)
    inner = np.cos(x @ W) * gain
    gradients = {
        "x": inner @ W.T,
        "W": x.T @ inner + np.sum(W) / 25,
        "gain": np.sum(np.sin(x @ W), axis=0),
    }
    return {"loss": layer_loss, "tensors": {"x": x, "W": W, "gain": gain}, "gradients": gradients}


def _with(inputs, **wrong):
    """Put wrong gradients in place of right ones: a factor each, or the gradient itself."""
    right = inputs["gradients"]
    changed = {n: k * right[n] if np.isscalar(k) else k for n, k in wrong.items()}
    return {**inputs, "gradients": right | changed}


def _right(rng):
    yield Case(_layer(rng), "three right gradients", CLOSE)


def _wrong(rng):
    inputs = _layer(rng)
    yield Case(_with(inputs, W=2.0), "the gradient of W is doubled", CLOSE)
    yield Case(_with(inputs, x=-1.0, gain=0.0), "x has the wrong sign, gain has none", CLOSE)
    noise = witness.rows(rng, inputs["gradients"]["x"].shape)
    near = _with(inputs, x=inputs["gradients"]["x"] + noise, gain=0.9)
    yield Case(near, "x is off everywhere, gain by a tenth", CLOSE)


def _one_entry(rng):
    inputs = _layer(rng)
    W = inputs["gradients"]["W"].copy()
    W[-1, -1] += 3.0
    yield Case(_with(inputs, W=W), "one entry of W is wrong, the last", CLOSE)


def _small(rng):
    tensors = {"big": witness.rows(rng, (11, 13)), "small": np.array([rng.uniform(0.2, 0.9)])}
    gradients = {"big": -np.sin(tensors["big"]), "small": 3e-3 * np.cos(tensors["small"])}
    inputs = {"loss": uneven_loss, "tensors": tensors, "gradients": gradients}
    yield Case(inputs, "one small tensor is off by a factor of 3, beside a large one", CLOSE)


def _zero(rng):
    tensors = {"matrix": witness.rows(rng, (2, 3)), "unused": witness.rows(rng, 5)}
    gradients = {"matrix": 3 * np.cos(tensors["matrix"]), "unused": np.zeros(5)}
    inputs = {"loss": two_loss, "tensors": tensors, "gradients": gradients}
    yield Case(inputs, "other names; the loss does not hear one of the tensors", CLOSE)


def _step(rng):
    yield Case(_layer(rng) | {"step": 0.3}, "three right gradients, and a step of 0.3", CLOSE)


def _untouched(rng):
    yield Case(_with(_layer(rng), W=2.0), "one doubled, looked at again after the call", CLOSE)


def _reference(loss, tensors, gradients, step=STEP):
    return gradient_check(loss, tensors, gradients, step)


COMPARISON = Exercise(
    name="gradient_check",
    returns=("**errors",),
    reference=_reference,
    claims=by_name(
        Claim(
            "right",
            "Right gradients get errors near zero.",
            _right,
            ("x", "W", "gain"),
            finds_errors(),
        ),
        Claim(
            "wrong",
            "A wrong gradient gets its error, and no other tensor does.",
            _wrong,
            ("x", "W", "gain"),
            finds_errors(),
        ),
        Claim(
            "one_entry",
            "Every entry of a tensor is looked at.",
            _one_entry,
            ("x", "W", "gain"),
            finds_errors(),
        ),
        Claim(
            "small",
            "A small tensor cannot hide behind a large one.",
            _small,
            ("big", "small"),
            finds_errors(),
        ),
        Claim(
            "zero",
            "A gradient that is zero, and should be, has no error.",
            _zero,
            ("matrix", "unused"),
            finds_errors(),
        ),
        Claim(
            "step",
            "The step that is passed is used.",
            _step,
            ("x", "W", "gain"),
            finds_errors(
                "With a large step even right gradients get an error. "
                "Does the step reach your differences?",
                "step_lost",
            ),
        ),
        Claim(
            "untouched",
            "The tensors and the gradients are left as they were.",
            _untouched,
            ("x", "W", "gain"),
            finds_errors_and_leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
