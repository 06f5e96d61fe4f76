"""Exercise 22.4: the gradient check of a whole block, for the input and every weight."""

import numpy as np

from grader.checks.block.errors import clear, finds_errors
from grader.checks.block.inputs import tiny
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.gradcheck import relative_error

WEIGHTS = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_up", "W_down", "attn_norm", "ffn_norm")
NAMES = ("x", *WEIGHTS)
CLOSE = 1e-5  # of an error: differences of one loss agree far better


def off_in_three(dout, cache):
    """Go back with three wrong gradients: one doubled, one of opposite sign, one of zero."""
    dx, grads = transformer_block_backward(dout, cache)
    wrong = {"W_q": 2 * grads["W_q"], "ffn_norm": -grads["ffn_norm"], "W_up": 0 * grads["W_up"]}
    return dx, grads | wrong


def off_at_the_input(dout, cache):
    """Go back without the straight way at the first add."""
    dx, grads = transformer_block_backward(dout, cache)
    return dx - dout, grads


def _case(rng, backward, about, leading=()):
    inputs = tiny(rng, leading)
    dout = witness.rows(rng, inputs["x"].shape)
    calls = {"forward": transformer_block_forward, "backward": backward}
    return Case({**calls, **inputs, "dout": dout}, about, CLOSE)


def _right(rng):
    yield _case(rng, transformer_block_backward, "a right backward pass")


def _wrong(rng):
    yield _case(rng, off_in_three, "a backward pass with three wrong gradients", (2,))


def _input(rng):
    yield _case(rng, off_at_the_input, "a backward pass whose dx is wrong")


def _true(forward, x, params, n_heads, dout):
    dx, grads = transformer_block_backward(dout, forward(x, params, n_heads)[1])
    return {"x": dx, **grads}


def _given(forward, backward, x, params, n_heads, dout):
    dx, grads = backward(dout, forward(x, params, n_heads)[1])
    return {"x": dx, **grads}


def _errors(numeric, given):
    return {name: relative_error(numeric[name], given[name]) for name in given}


def _reference(forward, backward, **inputs):
    return _errors(_true(forward, **inputs), _given(forward, backward, **inputs))


def _loss(name, question, gradient, spread=1.0):
    """Make a mistake of another loss, given by its gradient at the output."""

    def outputs(forward, backward, x, params, n_heads, dout):
        out = forward(x, params, n_heads)[0]
        inputs = {"x": x, "params": params, "n_heads": n_heads}
        numeric = _true(forward, **inputs, dout=gradient(out, dout))
        return clear(_errors(numeric, _given(forward, backward, **inputs, dout=dout)))

    return Mistake(name, question, outputs)


def _unmoved(names):
    """Make a mistake of a loss that does not hear some tensors: their differences are zero."""

    def outputs(forward, backward, **inputs):
        true = _true(forward, **inputs)
        numeric = {n: 0 * g if n in names else g for n, g in true.items()}
        return clear(_errors(numeric, _given(forward, backward, **inputs)))

    return outputs


def _pooled(forward, backward, **inputs):
    pair = (_true(forward, **inputs), _given(forward, backward, **inputs))
    a, b = (np.concatenate([t[n].ravel() for n in NAMES]) for t in pair)
    return clear(dict.fromkeys(NAMES, relative_error(a, b)))


def _handed_ones(forward, backward, **inputs):
    ones = np.ones_like(inputs["dout"])
    given = _given(forward, backward, **inputs | {"dout": ones})
    return clear(_errors(_true(forward, **inputs), given))


WHOLE = Exercise(
    name="block_gradient_errors",
    returns=("**errors",),
    reference=_reference,
    claims=by_name(
        Claim(
            "right",
            "A right backward pass gets ten errors near zero.",
            _right,
            NAMES,
            finds_errors(),
        ),
        Claim(
            "wrong",
            "Wrong gradients of weights are found, each under its own name.",
            _wrong,
            NAMES,
            finds_errors(
                "The backward pass that was handed in has wrong gradients. "
                "Are those the ones that you compare with differences?",
                "not_those",
            ),
        ),
        Claim(
            "input",
            "A wrong gradient of the input is found.",
            _input,
            NAMES,
            finds_errors("The gradient of the input is wrong here. Is x among your tensors?"),
        ),
    ),
    mistakes=(
        _loss(
            "plain_sum",
            "Of which loss is dout the gradient: of the plain sum?",
            lambda out, dout: np.ones_like(out),
        ),
        _loss(
            "squares",
            "With which gradient does the backward pass begin? Is that the gradient of your loss?",
            lambda out, dout: out,
        ),
        _loss(
            "half_squared_gap",
            "Is your loss linear in the output?",
            lambda out, dout: out - dout,
        ),
        _loss(
            "mean",
            "Do you add up the products, or average them?",
            lambda out, dout: dout / dout.size,
        ),
        _loss(
            "squared_sum",
            "Is it the output that is multiplied by dout, or its square?",
            lambda out, dout: 2 * out * dout,
        ),
        _loss("sign", "Which sign has your loss?", lambda out, dout: -dout),
        Mistake(
            "weights_unmoved",
            "Your loss is evaluated with moved weights. Which weights does your forward pass use?",
            _unmoved(WEIGHTS),
        ),
        Mistake(
            "input_unmoved",
            "Your loss is evaluated with a moved x. Which x does your forward pass use?",
            _unmoved(("x",)),
        ),
        Mistake(
            "nothing_moved",
            "Does your loss change at all when a tensor is moved?",
            _unmoved(NAMES),
        ),
        Mistake("pooled", "Has every tensor an error of its own?", _pooled),
        Mistake(
            "handed_ones",
            "What do you hand to the backward pass: dout, or ones?",
            _handed_ones,
        ),
    ),
)
