"""The forward pass, equation (22.4): its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.swiglu.formulas import as_type, gelu, relu, sigmoid, silu, slope, weights
from transformer_block.swiglu import swiglu_forward


def _case(rng, about, shape=None, scale=1.0, **changed):
    shape = shape or witness.shape(rng)
    params = weights(rng, shape[-1], scale)
    params |= {name: change * params[name] for name, change in changed.items()}
    return Case({"x": witness.rows(rng, shape), "params": params}, about)


def _value(rng):
    yield _case(rng, "ordinary rows")
    yield _case(rng, "wide-open and tightly closed gates", scale=4.0)


def _gate(rng):
    yield _case(rng, "W_up is zero, so that no gate has anything to let through", W_up=0.0)
    yield _case(rng, "W_gate is zero, so that every gate stands at 0", W_gate=0.0)


def _tokens(rng):
    for leading in (0, 2):
        yield _case(rng, f"leading axes: {leading}", witness.shape(rng, leading))
    shape = witness.shape(rng, 2)
    inputs = {"x": witness.uneven_rows(rng, shape), "params": weights(rng, shape[-1])}
    yield Case(inputs, "two leading axes, rows of very different size")


def _types(rng):
    inputs = as_type(_case(rng, "").inputs, np.float32)
    yield Case(inputs, "all arrays in float32", 1e-5)


def _untouched(rng):
    yield _case(rng, "ordinary rows, looked at again after the call", witness.shape(rng, 2))


def _example(rng):
    params = {
        "W_gate": witness.rows(rng, (2, 3)),
        "W_up": witness.rows(rng, (2, 3)),
        "W_down": witness.rows(rng, (3, 2)),
    }
    x = witness.rows(rng, (1, 2))
    return Case({"x": x, "params": params}, "one token of width 2 with 3 hidden features")


def _hidden(formula):
    """Make a mistake of another way to get from gate and up to the hidden features."""
    return lambda x, params: {
        "out": formula(x @ params["W_gate"], x @ params["W_up"]) @ params["W_down"]
    }


def _after(formula):
    """Make a mistake in what follows the product: it is given x and the right output."""
    return lambda x, params: {"out": formula(x, swiglu_forward(x, params)[0])}


def _softmax(gate):
    e = np.exp(gate - np.max(gate, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


MISTAKES = (
    Mistake(
        "swapped",
        "Which of the two goes through SiLU: x W_gate or x W_up? Look at your two names.",
        _hidden(lambda gate, up: gate * silu(up)),
    ),
    Mistake(
        "silu_on_both",
        "How many of the two branches pass through SiLU?",
        _hidden(lambda gate, up: silu(gate) * silu(up)),
    ),
    Mistake(
        "silu_on_product",
        "Which comes first: SiLU of the gate, or the product of gate and up?",
        _hidden(lambda gate, up: silu(gate * up)),
    ),
    Mistake(
        "no_activation",
        "Is there a curve anywhere in your net, or only products?",
        _hidden(lambda gate, up: gate * up),
    ),
    Mistake(
        "sigmoid_gate",
        "If W_gate is zero, what should come out? Is your activation the sigmoid or SiLU?",
        _hidden(lambda gate, up: sigmoid(gate) * up),
    ),
    Mistake(
        "relu_gate",
        "What does your gate let through when it stands at −1: nothing at all?",
        _hidden(lambda gate, up: relu(gate) * up),
    ),
    Mistake(
        "silu_of_x",
        "Of what do you take SiLU: of x, or of what W_gate has made of it?",
        lambda x, params: {
            "out": (silu(x) @ params["W_gate"] * (x @ params["W_up"])) @ params["W_down"]
        },
    ),
    Mistake(
        "silu_before_both",
        "Do both branches read x itself? Something has bent it before.",
        lambda x, params: {
            "out": (silu(x) @ params["W_gate"] * (silu(x) @ params["W_up"])) @ params["W_down"]
        },
    ),
    Mistake(
        "gelu_gate",
        "Is the activation of your gate SiLU, or its relative GELU?",
        _hidden(lambda gate, up: gelu(gate) * up),
    ),
    Mistake(
        "tanh_gate",
        "Which function does your gate pass through? It lies between −1 and 1.",
        _hidden(lambda gate, up: np.tanh(gate) * up),
    ),
    Mistake(
        "softmax_gate",
        "Do the features compete for the gate? Each has a gate of its own.",
        _hidden(lambda gate, up: _softmax(gate) * up),
    ),
    Mistake(
        "slope_as_gate",
        "Do you multiply by SiLU of the gate, or by its derivative?",
        _hidden(lambda gate, up: slope(gate) * up),
    ),
    Mistake(
        "size_in_sigmoid",
        "Is your SiLU right for a gate at −3? Of which number does it take the sigmoid?",
        _hidden(lambda gate, up: gate * sigmoid(np.abs(gate)) * up),
    ),
    Mistake(
        "cut_at_zero",
        "Is your SiLU right for a gate at −1? What should be a little below zero there?",
        _hidden(lambda gate, up: relu(gate) * sigmoid(gate) * up),
    ),
    Mistake(
        "no_up",
        "Which of the three matrices have no part in your result? Try W_up = 0.",
        _hidden(lambda gate, up: silu(gate)),
    ),
    Mistake(
        "no_gate",
        "Does your result depend on W_gate at all?",
        _hidden(lambda gate, up: up),
    ),
    Mistake(
        "only_up",
        "Your net has two matrices. Where does W_gate come in?",
        _hidden(lambda gate, up: silu(up)),
    ),
    Mistake(
        "gate_by_itself",
        "What does the opened gate multiply: itself, or the up projection?",
        _hidden(lambda gate, up: silu(gate) * gate),
    ),
    Mistake(
        "up_by_itself",
        "Where does W_gate come in? Both of your factors are made of W_up.",
        _hidden(lambda gate, up: silu(up) * up),
    ),
    Mistake(
        "added",
        "If the up projection is zero, what should be left? How do the two branches meet?",
        _hidden(lambda gate, up: silu(gate) + up),
    ),
    Mistake(
        "squashed_up",
        "Does anything happen to x W_up before it meets the gate?",
        _hidden(lambda gate, up: silu(gate) * sigmoid(up)),
    ),
    Mistake(
        "residual_inside",
        "Is the residual part of the net, or is x added later, by the block?",
        _after(lambda x, out: x + out),
    ),
    Mistake(
        "activation_last",
        "Does an activation follow W_down? What is the last thing that happens?",
        _after(lambda x, out: silu(out)),
    ),
)

FORWARD = Exercise(
    name="swiglu_forward",
    returns=("out", "cache"),
    reference=lambda x, params: {"out": swiglu_forward(x, params)[0]},
    claims=by_name(
        Claim("value", "The output is that of (22.4).", _value, ("out",)),
        Claim("gate", "Zero on either branch shuts a feature completely.", _gate, ("out",)),
        Claim(
            "tokens",
            "Each token is treated by itself, whatever axes come before it.",
            _tokens,
            ("out",),
        ),
        Claim("types", "float32 goes in and float32 comes out.", _types, ("out",), keeps_dtype),
        Claim(
            "untouched",
            "x and params are left as they were, and a second call gives the same.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
    example=_example,
)
