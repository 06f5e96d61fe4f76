"""The gradient check: every tensor against differences, each by itself."""

import numpy as np

from grader.checks.block.distance import FORMULAS
from grader.checks.block.errors import (
    clear,
    finds_errors,
    finds_errors_and_leaves_arguments,
)
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.gradcheck import STEP, gradient_check, numerical_gradient

CLOSE = 1e-5  # of an error: differences of one loss agree far better


def layer_loss(t):
    """Give the loss of a layer with a gain: three tensors, of which one is small."""
    return float(np.sum(np.sin(t["x"] @ t["W"]) * t["gain"]) + np.sum(t["W"]) ** 2 / 50)


def two_loss(t):
    """Give a loss of a matrix and of a tensor that it does not depend on."""
    return float(np.sum(np.sin(t["matrix"])) + 0 * np.sum(t["unused"]))


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


def _differences(loss, tensors, step):
    return {
        name: numerical_gradient(lambda t, name=name: loss({**tensors, name: t}), tensor, step)
        for name, tensor in tensors.items()
    }


def _compared(name, question, formula):
    """Make a mistake that compares each tensor by another formula."""

    def outputs(loss, tensors, gradients, step=STEP):
        found = _differences(loss, tensors, step)
        pairs = {n: (found[n], gradients[n]) for n in found if np.any(gradients[n])}
        return clear({n: formula(a, b, a - b) for n, (a, b) in pairs.items()})

    return Mistake(name, question, outputs)


def _pooled(join):
    """Make a mistake that gives every tensor the same error."""

    def outputs(loss, tensors, gradients, step=STEP):
        found = _differences(loss, tensors, step)
        return clear(dict.fromkeys(tensors, join(found, gradients)))

    return outputs


def _one_length(found, gradients):
    a, b = (np.concatenate([t[n].ravel() for n in found]) for t in (found, gradients))
    return FORMULAS["over_mean"](a, b, a - b) / 2


def _each(found, gradients):
    return [FORMULAS["over_mean"](a, b, a - b) / 2 for a, b in _pairs(found, gradients)]


def _pairs(found, gradients):
    return [(found[n], gradients[n]) for n in found if np.any(found[n]) or np.any(gradients[n])]


def _first_entries(a, b, c):
    a, b = a.ravel()[0], b.ravel()[0]
    return abs(a - b) / (abs(a) + abs(b))


def _rotated(loss, tensors, gradients, step=STEP):
    """Give each tensor the error of the next one."""
    errors = gradient_check(loss, tensors, gradients, step)
    names = list(errors)
    return {name: errors[names[(i + 1) % len(names)]] for i, name in enumerate(names)}


def _nan_at_zero(loss, tensors, gradients, step=STEP):
    if any(np.any(gradient) for gradient in gradients.values()):
        silent = [name for name, gradient in gradients.items() if not np.any(gradient)]
        errors = gradient_check(loss, tensors, gradients, step)
        lost = {name: np.nan for name in silent if errors[name] == 0}
        if lost:
            return lost
    raise ValueError("only a gradient of zero shows this mistake")


QUESTIONS = {
    "absolute": "Is a tensor's error set against the size of its gradients?",
    "over_first": "By which length do you divide: that of the differences alone?",
    "over_second": "By which length do you divide: that of the given gradient alone?",
    "over_larger": "By which length do you divide: the larger of the two?",
    "squared": "Do you compare lengths, or their squares?",
    "sums": "Can errors of opposite sign cancel within a tensor?",
    "lengths": "Do you compare the gradients, or only how long they are?",
    "direction": "What does your check say of a gradient that is doubled?",
    "signs_dropped": "What does your check say of a gradient with the wrong sign?",
    "worst_entry": "Is a tensor's error that of its worst entry?",
    "largest_entry": "Do you measure a tensor by its length, or by its largest entry?",
}

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
    mistakes=(
        *(_compared(name, QUESTIONS[name], FORMULAS[name]) for name in QUESTIONS),
        Mistake(
            "one_length",
            "Is every tensor compared by itself? In one long row a small one hides.",
            _pooled(_one_length),
        ),
        Mistake(
            "worst_for_all",
            "Whose error is stored under each name?",
            _pooled(lambda found, gradients: max(_each(found, gradients))),
        ),
        Mistake(
            "mean_for_all",
            "Why do all tensors get the same error?",
            _pooled(lambda found, gradients: float(np.mean(_each(found, gradients)))),
        ),
        _compared(
            "first_entry",
            "How many entries of each tensor do you compare?",
            _first_entries,
        ),
        Mistake(
            "names_moved",
            "Is each error stored under the name of its own tensor?",
            lambda **inputs: clear(_rotated(**inputs)),
        ),
        Mistake(
            "nan_at_zero",
            "What does your comparison give for two gradients of zero?",
            _nan_at_zero,
        ),
    ),
)
