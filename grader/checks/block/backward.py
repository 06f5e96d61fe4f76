"""The block, backward: its claims and cases."""

from grader.checks.block.backward_mistakes import BACKWARD_MISTAKES
from grader.checks.block.inputs import block, in_float32
from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from transformer_block.block import transformer_block_backward, transformer_block_forward

GAINS = ("attn_norm", "ffn_norm")
ATTENTION = ("W_q", "W_k", "W_v", "W_o")
NET = ("W_gate", "W_up", "W_down")
ALL = ("dx", *GAINS, *ATTENTION, *NET)
FAINT = 1e-7  # times which a feature is too small for the differences of any loss


def _arguments(inputs, companions):
    """Pass the cache of the library, or the one that the learner's own forward makes."""
    rest = [value for name, value in inputs.items() if name != "dout"]
    yield {"dout": inputs["dout"], "cache": transformer_block_forward(*rest)[1]}
    if "forward" in companions:
        yield from cache_of(companions["forward"], inputs["dout"], *rest)


def _reference(dout, **inputs):
    dx, grads = transformer_block_backward(dout, transformer_block_forward(**inputs)[1])
    return {"dx": dx, **grads}


def _case(rng, about, tolerance=1e-9, **sizes):
    return _with_dout(rng, block(rng, **sizes), about, tolerance)


def _with_dout(rng, inputs, about, tolerance=1e-9):
    dout = witness.rows(rng, inputs["x"].shape).astype(inputs["x"].dtype)
    return Case({"dout": dout, **inputs}, about, tolerance)


def _cases(rng):
    yield _case(rng, "several heads, gains far from one")
    yield _case(rng, "two leading axes", leading=(2, 3))


def _dx(rng):
    yield from _cases(rng)
    case = _case(rng, "dout of the last token 1e-8 times that of the others")
    case.inputs["dout"][..., -1, :] *= 1e-8
    yield case


def _gains(rng):
    yield from _cases(rng)
    case = _case(rng, "a stream of size 3000")
    yield Case(case.inputs | {"x": 3000 * case.inputs["x"]}, case.about)


def _weights(rng):
    yield from _cases(rng)
    case = _case(rng, "features of size 1e-7 in front of every matrix")
    params = case.inputs["params"]
    for name in (*GAINS, "W_v", "W_up"):
        params[name][..., 0] *= FAINT
    yield case


def _types(rng):
    yield _with_dout(rng, in_float32(block(rng)), "all arrays in float32", 1e-3)


def _untouched(rng):
    yield _case(rng, "two sequences, looked at again after the call", leading=(2,))


BACKWARD = Exercise(
    name="transformer_block_backward",
    returns=("dx", "**grads"),
    reference=_reference,
    claims=by_name(
        Claim("net", "The net's matrices get their gradients.", _weights, NET),
        Claim("gains", "Each gain gets its own gradient.", _gains, GAINS),
        Claim(
            "attention",
            "Attention's matrices hear what comes back on both ways of the last split.",
            _weights,
            ATTENTION,
        ),
        Claim("dx", "dx adds up what comes back on both ways of both splits.", _dx, ("dx",)),
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
    companions={"forward": "transformer_block_forward"},
)
