"""The block, forward: its claims and cases."""

from grader.checks.block.forward_mistakes import FORWARD_MISTAKES
from grader.checks.block.inputs import block, gaps, in_float32
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from transformer_block.block import transformer_block_forward


def _case(rng, about, tolerance=1e-9, **changed):
    """Draw a block; a keyword names a weight and the factor that it is multiplied by."""
    inputs = block(rng)
    inputs["params"] |= {name: k * inputs["params"][name] for name, k in changed.items()}
    return Case(inputs, about, tolerance)


def _value(rng):
    yield _case(rng, "several heads, gains far from one")
    case = _case(rng, "rows of very different size")
    yield Case(case.inputs | {"x": witness.uneven_rows(rng, case.inputs["x"].shape)}, case.about)


def _silent(rng):
    yield _case(rng, "W_o and W_down are zero, so that nothing is written", 0.0, W_o=0, W_down=0)


def _one_half(rng):
    yield _case(rng, "W_down is zero, so that attention alone writes", W_down=0)
    yield _case(rng, "W_o is zero, so that the net alone writes", W_o=0)


def _settings(rng):
    case = _case(rng, "base 30, ε = 0.1, positions with gaps, small rows")
    settings = {"rope_base": 30.0, "eps": 0.1, "positions": gaps(rng)}
    yield Case(case.inputs | {"x": 0.3 * case.inputs["x"]} | settings, case.about)


def _leading(rng):
    yield Case(block(rng, leading=(2, 3)), "two leading axes")
    yield Case(block(rng, T=1), "one token alone")


def _types(rng):
    yield Case(in_float32(block(rng)), "all arrays in float32", 1e-4)


def _untouched(rng):
    yield Case(block(rng, leading=(2,)), "two sequences, looked at again after the call")


FORWARD = Exercise(
    name="transformer_block_forward",
    returns=("out", "cache"),
    reference=lambda **inputs: {"out": transformer_block_forward(**inputs)[0]},
    claims=by_name(
        Claim(
            "silent",
            "A block that writes nothing returns its input, bit for bit.",
            _silent,
            ("out",),
        ),
        Claim("one_half", "Each half adds its own write to the stream.", _one_half, ("out",)),
        Claim("value", "The block computes equation (22.1).", _value, ("out",)),
        Claim("settings", "The base, ε and the positions are heard.", _settings, ("out",)),
        Claim("leading", "Any number of leading axes may stand in front.", _leading, ("out",)),
        Claim("types", "float32 goes in and float32 comes out.", _types, ("out",), keeps_dtype),
        Claim(
            "untouched",
            "x and the weights are left as they were.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=FORWARD_MISTAKES,
)
