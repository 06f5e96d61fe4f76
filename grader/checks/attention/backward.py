"""The whole layer, backward: its claims and cases."""

import numpy as np

from grader.checks.attention.backward_mistakes import BACKWARD_MISTAKES
from grader.checks.attention.inputs import in_float32, layer
from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from transformer_block.attention import (
    causal_self_attention_backward,
    causal_self_attention_forward,
)

ALL = ("dx", "W_q", "W_k", "W_v", "W_o")


def _arguments(inputs, companions):
    """Pass the cache of the library, or the one that the learner's own forward makes."""
    rest = [value for name, value in inputs.items() if name != "dout"]
    yield {"dout": inputs["dout"], "cache": causal_self_attention_forward(*rest)[1]}
    if "forward" in companions:
        yield from cache_of(companions["forward"], inputs["dout"], *rest)


def _reference(dout, **inputs):
    _, cache = causal_self_attention_forward(**inputs)
    dx, grads = causal_self_attention_backward(dout, cache)
    return {"dx": dx, **grads}


def _case(rng, about, **sizes):
    return _with_dout(rng, layer(rng, **sizes), about)


def _with_dout(rng, inputs, about, tolerance=1e-9):
    dout = witness.rows(rng, inputs["x"].shape).astype(inputs["x"].dtype)
    return Case({"dout": dout, **inputs}, about, tolerance)


def _cases(rng):
    yield _case(rng, "three heads")
    yield _case(rng, "three heads that fill the width, two sequences", K=4, d=12, leading=(2,))
    yield _faint(rng)


def _faint(rng):
    """Make rows of gradients that are tiny beside the loss, too tiny for its differences."""
    inputs = layer(rng)
    inputs["x"][..., 0] *= 1e-7
    inputs["params"]["W_v"][:, 0] *= 1e-7
    return _with_dout(rng, inputs, "one feature of x and one column of W_v of size 1e-7")


def _quiet(rng):
    """Let the loss hardly hear the last token: its differences are too coarse for that one."""
    case = _case(rng, "dout of the last token 1e-8 times that of the others")
    case.inputs["dout"][..., -1, :] *= 1e-8
    return case


def _score_cases(rng):
    yield from _cases(rng)
    gaps = np.cumsum(rng.integers(2, 9, size=5))
    yield _case(rng, "positions with gaps, base 30", base=30.0, positions=gaps)


def _dx_cases(rng):
    yield from _score_cases(rng)
    yield _quiet(rng)


def _grouped(rng):
    yield _case(rng, "4 query heads, 2 key/value heads", H=4, H_kv=2)
    yield _case(rng, "6 query heads, 3 key/value heads, two sequences", H=6, H_kv=3, leading=(2,))


def _types(rng):
    yield _with_dout(rng, in_float32(layer(rng)), "all arrays in float32", 1e-4)


def _untouched(rng):
    yield _case(rng, "three heads, looked at again after the call")


BACKWARD = Exercise(
    name="causal_self_attention_backward",
    returns=("dx", "**grads"),
    reference=_reference,
    claims=by_name(
        Claim("W_o", "W_o gets what was merged, times dout.", _cases, ("W_o",)),
        Claim("W_v", "W_v gets what the weights bring back.", _cases, ("W_v",)),
        Claim(
            "W_q_W_k",
            "W_q and W_k get what comes back through softmax, scores and RoPE.",
            _score_cases,
            ("W_q", "W_k"),
        ),
        Claim("dx", "The three paths into x are added up.", _dx_cases, ("dx",)),
        Claim("grouped", "A shared head hears all of its queries.", _grouped, ALL),
        Claim("types", "float32 goes in and float32 comes out.", _types, ALL, keeps_dtype),
        Claim(
            "untouched",
            "dout and the cache are left as they were.",
            _untouched,
            ALL,
            leaves_arguments,
        ),
    ),
    mistakes=BACKWARD_MISTAKES,
    arguments=_arguments,
    companions={"forward": "causal_self_attention_forward"},
)
