"""The whole backward pass: the product's two gradients, carried through the three matrices."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.swiglu import product
from grader.checks.swiglu.formulas import as_type, silu, weight_gradient, weights
from transformer_block.swiglu import swiglu_backward, swiglu_forward

ALL = ("dx", "W_gate", "W_up", "W_down")


def _arguments(inputs, companions):
    """Pass the cache of the listings, or the one that the learner's own forward makes."""
    x, params = inputs["x"], inputs["params"]
    yield {"dout": inputs["dout"], "cache": swiglu_forward(x, params)[1]}
    if "forward" in companions:
        yield from cache_of(companions["forward"], inputs["dout"], x, params)


def _reference(dout, x, params):
    dx, grads = swiglu_backward(dout, swiglu_forward(x, params)[1])
    return {"dx": dx, **grads}


def _case(rng, about, leading=1, scale=1.0):
    shape = witness.shape(rng, leading)
    params = weights(rng, shape[-1], scale)
    return Case(
        {"dout": witness.rows(rng, shape), "x": witness.rows(rng, shape), "params": params}, about
    )


def _cases(rng):
    yield _case(rng, "ordinary rows")
    yield _case(rng, "wide-open and tightly closed gates", scale=2.0)
    yield _case(rng, "two leading axes", 2)
    yield _case(rng, "one token without leading axes", 0)


def _uneven(rng, width):
    return 10.0 ** rng.uniform(-6, 0, size=width)


def _dx(rng):
    yield from _cases(rng)
    case = _case(rng, "tokens of very different size")
    yield Case(case.inputs | {"x": witness.uneven_rows(rng, case.inputs["x"].shape)}, case.about)


def _weights(rng):
    yield from _cases(rng)
    case = _case(rng, "features of very different size")
    x, params = case.inputs["x"], case.inputs["params"]
    smaller = {"W_up": params["W_up"] * _uneven(rng, params["W_up"].shape[-1])}
    inputs = {"x": x * _uneven(rng, x.shape[-1]), "params": params | smaller}
    yield Case(case.inputs | inputs, case.about)


def _types(rng):
    yield Case(as_type(_case(rng, "", 2).inputs, np.float32), "all arrays in float32", 1e-4)


def _untouched(rng):
    yield _case(rng, "ordinary rows, looked at again after the call", 2)


def _forward(dout, x, params):
    """Return what the mistakes below start from: dhidden, gate and up."""
    return dout @ params["W_down"].T, x @ params["W_gate"], x @ params["W_up"]


def _of_product(mistake):
    """Make a mistake at the product one of the whole backward pass."""

    def outputs(dout, x, params):
        right = product.pull_back(*_forward(dout, x, params))
        wrong = mistake.outputs(*_forward(dout, x, params))
        paths = right | wrong
        grads = {f"W_{name[1:]}": weight_gradient(x, wrong[name]) for name in wrong}
        dx = paths["dgate"] @ params["W_gate"].T + paths["dup"] @ params["W_up"].T
        return {"dx": dx, **grads}

    return Mistake(mistake.name, mistake.question, outputs)


def _paths(formula):
    """Make a mistake where the two paths meet again, at x."""

    def outputs(dout, x, params):
        paths = product.pull_back(*_forward(dout, x, params))
        return {
            "dx": formula(paths["dgate"], paths["dup"], params["W_gate"], params["W_up"], x, dout)
        }

    return outputs


def _w_down(formula):
    """Make a mistake in what W_down is said to have multiplied."""
    return lambda dout, x, params: {
        "W_down": weight_gradient(formula(x @ params["W_gate"], x @ params["W_up"]), dout)
    }


def _grads(change):
    """Make a mistake that changes all three gradients of weights in the same way."""

    def outputs(dout, x, params):
        right = _reference(dout, x, params)
        return {name: change(right[name], x) for name in right if name != "dx"}

    return outputs


def _crossed(dout, x, params):
    right = _reference(dout, x, params)
    return {"W_gate": right["W_up"], "W_up": right["W_gate"]}


def _not_summed(dout, x, params):
    """Leave the gradients of the tokens side by side."""
    paths = product.pull_back(*_forward(dout, x, params))
    return {f"W_{name[1:]}": x[..., :, None] * paths[name][..., None, :] for name in paths}


def _last_sequence(dout, x, params):
    """Let each sequence overwrite the gradient of the one before."""
    if x.ndim < 3:
        raise ValueError("only two leading axes show this mistake")
    right = _reference(dout[-1], x[-1], params)
    return {name: right[name] for name in right if name != "dx"}


MISTAKES = (
    Mistake(
        "gate_path_only",
        "On how many paths does x act on the output? How many are in your dx?",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: dgate @ W_gate.T),
    ),
    Mistake(
        "up_path_only",
        "x acts through the gate as well. Is that path in your dx?",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: dup @ W_up.T),
    ),
    Mistake(
        "matrices_crossed",
        "Through which matrix does the gradient of the gate go back to x? And that of up?",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: dgate @ W_up.T + dup @ W_gate.T),
    ),
    Mistake(
        "one_matrix",
        "Did gate and up come from x by the same matrix? Look at your dx.",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: (dgate + dup) @ W_gate.T),
    ),
    Mistake(
        "paths_subtracted",
        "Two paths lead back to x. With which sign do their gradients meet?",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: dgate @ W_gate.T - dup @ W_up.T),
    ),
    Mistake(
        "residual_inside",
        "Is there a residual path in the net itself? Where is it added?",
        _paths(lambda dgate, dup, W_gate, W_up, x, dout: dgate @ W_gate.T + dup @ W_up.T + dout),
    ),
    Mistake(
        "weights_crossed",
        "Which gradient did you store under W_gate, and which under W_up?",
        _crossed,
    ),
    Mistake(
        "weights_not_summed",
        "All tokens use the same matrix. What becomes of their shares of its gradient?",
        _not_summed,
    ),
    Mistake(
        "weights_last_sequence",
        "With two leading axes, over which of them are your weight gradients summed?",
        _last_sequence,
    ),
    Mistake(
        "weights_mean",
        "Are the tokens' shares of a weight's gradient added, or averaged?",
        _grads(lambda gradient, x: gradient * x.shape[-1] / x.size),
    ),
    Mistake(
        "weights_transposed",
        "Which shape has the weight, and which has your gradient?",
        _grads(lambda gradient, x: gradient.T),
    ),
    Mistake(
        "down_from_gate",
        "What did W_down multiply in the forward pass: the opened gate, or all of hidden?",
        _w_down(lambda gate, up: silu(gate)),
    ),
    Mistake(
        "down_from_up",
        "What did W_down multiply in the forward pass: up alone?",
        _w_down(lambda gate, up: up),
    ),
    Mistake(
        "down_without_silu",
        "Which gate is in the hidden that W_down multiplied: before its SiLU, or after?",
        _w_down(lambda gate, up: gate * up),
    ),
    Mistake(
        "down_swapped",
        "Is your hidden the one of the forward pass? Which branch went through SiLU?",
        _w_down(lambda gate, up: gate * silu(up)),
    ),
)

BACKWARD = Exercise(
    name="swiglu_backward",
    returns=("dx", "**grads"),
    reference=_reference,
    claims=by_name(
        Claim("dx", "dx adds up what comes back through the gate and through up.", _dx, ("dx",)),
        Claim(
            "gate_and_up",
            "The gradients of W_gate and W_up are sums over all tokens.",
            _weights,
            ("W_gate", "W_up"),
        ),
        Claim(
            "down", "The gradient of W_down is made of the hidden features.", _weights, ("W_down",)
        ),
        Claim("types", "float32 goes in and float32 comes out.", _types, ALL, keeps_dtype),
        Claim(
            "untouched",
            "dout and the cache are left as they were.",
            _untouched,
            ALL,
            leaves_arguments,
        ),
    ),
    mistakes=(*(_of_product(mistake) for mistake in product.MISTAKES), *MISTAKES),
    arguments=_arguments,
    companions={"forward": "swiglu_forward"},
)
