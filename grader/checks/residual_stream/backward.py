"""The way back through the pre-norm update: two branches that meet again in a sum."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.residual_stream.formulas import (
    asked_twice,
    fresh,
    in_float32,
    matrix,
    mean_square,
    shape,
)
from grader.checks.residual_stream.sublayers import Keeps, PullsBack
from transformer_block.residual_stream import pre_norm_update_backward

BOTH = ("dx", "dweight")


def _case(rng, about, leading=1, *, scale=1.0, eps=1e-5, back=1.0, fickle=False, tolerance=1e-9):
    drawn = shape(rng, leading)
    inputs = {
        "dout": witness.rows(rng, drawn),
        "x": witness.rows(rng, drawn, scale),
        "sublayer_backward": PullsBack(back * matrix(rng, drawn[-1]), fickle),
        "weight": witness.gain(rng, drawn[-1]),
        "eps": eps,
    }
    return Case(inputs, about, tolerance)


def _value(rng):
    yield _case(rng, "ordinary rows")
    yield _case(rng, "a stream of size 1/30", scale=1 / 30)
    yield _case(rng, "ε = 0.3", eps=0.3)
    yield _case(rng, "two leading axes", 2)
    yield _case(rng, "one sequence without leading axes", 0)


def _identity(rng):
    yield _case(rng, "a sublayer that sends nothing back", back=0.0, tolerance=0.0)
    yield _case(rng, "nothing again, for a stream of size 30", 2, scale=30.0, back=0.0, tolerance=0)


def _once(rng):
    yield _case(rng, "a sublayer that answers otherwise when it is asked again", fickle=True)


def _types(rng):
    case = _case(rng, "all arrays in float32", 2)
    yield Case(in_float32(dict(case.inputs)), case.about, 1e-4)


def _untouched(rng):
    yield _case(rng, "ordinary rows, looked at again after the call", 2)
    case = _case(rng, "a sublayer that sends the same rows back every time")
    kept = Keeps(witness.rows(rng, case.inputs["x"].shape))
    yield Case(case.inputs | {"sublayer_backward": kept}, case.about)


class _Norm:
    """The norm at x, with the ways in which its backward pass is got wrong."""

    def __init__(self, x, weight, eps):
        self.x, self.weight = x, weight
        self.r = 1 / np.sqrt(mean_square(x) + eps)
        self.axes = tuple(range(x.ndim - 1))

    def back(self, dout):
        """Apply (22.3) after the gain."""
        return self.without_gain(dout * self.weight)

    def without_gain(self, dz):
        """Apply (22.3) alone."""
        c = np.mean(dz * self.x, axis=-1, keepdims=True)
        return self.r * dz - self.x * self.r**3 * c

    def of_gain(self, dout):
        """Sum the shares of all tokens in the gradient of the gain."""
        return np.sum(dout * self.x * self.r, axis=self.axes)


def _made(formula, name="dx"):
    """Make one output of a formula in dout, the sublayer's way back, and the norm."""

    def outputs(dout, x, sublayer_backward, weight, eps):
        return {name: formula(dout, fresh(sublayer_backward), _Norm(x, weight, eps))}

    return outputs


def _both(formula):
    """Make both outputs from another gradient of the normalised rows."""

    def outputs(dout, x, sublayer_backward, weight, eps):
        norm = _Norm(x, weight, eps)
        dnormed = formula(dout, fresh(sublayer_backward))
        return {"dx": dout + norm.back(dnormed), "dweight": norm.of_gain(dnormed)}

    return outputs


def _asked_for_each(first):
    """Make both outputs, each with an answer of its own; ``first`` gets the first one."""

    def outputs(dout, x, sublayer_backward, weight, eps):
        norm, back = _Norm(x, weight, eps), fresh(sublayer_backward)
        made = {
            "dx": lambda: dout + norm.back(back(dout)),
            "dweight": lambda: norm.of_gain(back(dout)),
        }
        return {name: made[name]() for name in sorted(BOTH, key=lambda name: name != first)}

    return outputs


def _eps_fixed(dout, x, sublayer_backward, weight, eps):
    norm, dnormed = _Norm(x, weight, 1e-5), fresh(sublayer_backward)(dout)
    return {"dx": dout + norm.back(dnormed), "dweight": norm.of_gain(dnormed)}


def _as_for_post_norm(dout, x, sublayer_backward, weight, eps):
    norm = _Norm(x, weight, eps)
    dsum = norm.back(dout)
    return {"dx": dsum + fresh(sublayer_backward)(dsum), "dweight": norm.of_gain(dout)}


MISTAKES = (
    Mistake(
        "as_for_post_norm",
        "Does dout meet the norm first, or the add? In which of the two updates?",
        _as_for_post_norm,
    ),
    Mistake(
        "identity_lost",
        "x is used twice in the update. On how many paths does the gradient come back to it?",
        _made(lambda dout, back, norm: norm.back(back(dout))),
    ),
    Mistake(
        "branch_lost",
        "Does x act on the result through the sublayer as well? What comes back from there?",
        _made(lambda dout, back, norm: dout),
    ),
    Mistake(
        "norm_skipped",
        "The sublayer read norm(x), and not x. Which link of the chain is missing?",
        _made(lambda dout, back, norm: dout + back(dout)),
    ),
    Mistake(
        "wrong_way_round",
        "What happened last on the branch? Then what comes first on the way back?",
        _made(lambda dout, back, norm: dout + back(norm.back(dout))),
    ),
    Mistake(
        "identity_through_norm",
        "Does the identity path go through the norm? Where exactly does the gradient split?",
        _made(lambda dout, back, norm: norm.back(dout + back(dout))),
    ),
    Mistake(
        "norm_of_dout",
        "What arrives at the norm: dout, or what the sublayer sends back?",
        _made(lambda dout, back, norm: dout + norm.back(dout)),
    ),
    Mistake(
        "identity_twice",
        "How often is dout in your sum?",
        _made(lambda dout, back, norm: 2 * dout + norm.back(back(dout))),
    ),
    Mistake(
        "subtracted",
        "Two paths meet at x. With which sign?",
        _made(lambda dout, back, norm: dout - norm.back(back(dout))),
    ),
    Mistake(
        "multiplied",
        "Do the gradients of two paths multiply, or add?",
        _made(lambda dout, back, norm: dout * norm.back(back(dout))),
    ),
    Mistake(
        "halved",
        "The gradient reaches both branches. Does each get all of it, or a half?",
        _made(lambda dout, back, norm: dout / 2 + norm.back(back(dout)) / 2),
    ),
    Mistake(
        "gain_skipped",
        "Does the gradient pass the gain on its way back through the norm?",
        _made(lambda dout, back, norm: dout + norm.without_gain(back(dout))),
    ),
    Mistake(
        "correction_missing",
        "Every entry of x acts on the RMS of its row. Which term of (22.3) says so?",
        _made(lambda dout, back, norm: dout + norm.r * norm.weight * back(dout)),
    ),
    Mistake(
        "asked_twice",
        "How often do you call the sublayer's backward pass?",
        _both(lambda dout, back: asked_twice(back, dout)),
    ),
    Mistake(
        "asked_again_for_dx",
        "You call the sublayer's backward pass for dweight, and then again. Need the two agree?",
        _asked_for_each("dweight"),
    ),
    Mistake(
        "asked_again_for_dweight",
        "You call the sublayer's backward pass for dx, and then again. Need the two agree?",
        _asked_for_each("dx"),
    ),
    Mistake(
        "eps_fixed",
        "Does your norm use the ε that it is given?",
        _eps_fixed,
    ),
    Mistake(
        "gain_from_dout",
        "Where did the gain act: on the whole update, or on what the sublayer read?",
        _made(lambda dout, back, norm: norm.of_gain(dout), "dweight"),
    ),
    Mistake(
        "gain_with_identity",
        "Which gradient reaches the gain: that of the branch alone, or dout with it?",
        _made(lambda dout, back, norm: norm.of_gain(dout + back(dout)), "dweight"),
    ),
    Mistake(
        "gain_from_x",
        "What did the gain multiply: x, or the normalised x?",
        _made(
            lambda dout, back, norm: np.sum(back(dout) * norm.x, axis=norm.axes),
            "dweight",
        ),
    ),
    Mistake(
        "gain_mean",
        "Are the tokens' shares of the gain's gradient added, or averaged?",
        _made(
            lambda dout, back, norm: np.mean(back(dout) * norm.x * norm.r, axis=norm.axes),
            "dweight",
        ),
    ),
    Mistake(
        "gain_not_summed",
        "All tokens share one gain. What becomes of their shares of its gradient?",
        _made(lambda dout, back, norm: back(dout) * norm.x * norm.r, "dweight"),
    ),
)


def _reference(dout, x, sublayer_backward, weight, eps):
    made = pre_norm_update_backward(dout, x, fresh(sublayer_backward), weight, eps)
    return dict(zip(BOTH, made, strict=True))


BACKWARD = Exercise(
    name="pre_norm_update_backward",
    returns=BOTH,
    reference=_reference,
    claims=by_name(
        Claim("dx", "dx adds up what comes back on both paths.", _value, ("dx",)),
        Claim(
            "identity",
            "A sublayer that sends nothing back leaves dout as it is, bit for bit.",
            _identity,
            ("dx",),
        ),
        Claim("gain", "The gain gets its gradient from the branch alone.", _value, ("dweight",)),
        Claim("once", "The sublayer's backward pass is asked once.", _once, BOTH),
        Claim("types", "float32 goes in and float32 comes out.", _types, BOTH, keeps_dtype),
        Claim(
            "untouched",
            "x and dout are left as they were, and what belongs to the sublayer too.",
            _untouched,
            BOTH,
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
