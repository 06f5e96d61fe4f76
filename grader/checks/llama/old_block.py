"""The block of GPT-2: its claims, its cases, and the ways it goes wrong."""

from grader.checks.block.inputs import in_float32
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.llama.inputs import old_block
from grader.checks.llama.old_block_mistakes import OLD_BLOCK_MISTAKES
from transformer_block.gpt2 import gpt2_block


def _case(rng, about, tolerance=1e-9, **changed):
    """Draw a block; a keyword names a weight and the factor that it is multiplied by."""
    inputs = old_block(rng)
    inputs["params"] |= {name: k * inputs["params"][name] for name, k in changed.items()}
    return Case(inputs, about, tolerance)


def _silent(rng):
    nothing = dict.fromkeys(("W_o", "b_o", "W_2", "b_2"), 0)
    yield _case(rng, "W_o, b_o, W_2 and b_2 are zero, so that nothing is written", 0.0, **nothing)


def _one_half(rng):
    yield _case(rng, "W_2 and b_2 are zero, so that attention alone writes", W_2=0, b_2=0)
    yield _case(rng, "W_o and b_o are zero, so that the net alone writes", W_o=0, b_o=0)


def _value(rng):
    yield _case(rng, "several heads, gains far from one, biases everywhere")
    case = _case(rng, "rows of very different size")
    yield Case(case.inputs | {"x": witness.uneven_rows(rng, case.inputs["x"].shape)}, case.about)
    case = _case(rng, "rows whose mean is far from zero")
    yield Case(case.inputs | {"x": case.inputs["x"] + 3.0}, case.about)


def _eps(rng):
    inputs = old_block(rng)
    small = {"x": 0.3 * inputs["x"], "eps": 0.1}
    yield Case(inputs | small, "small rows, ε = 0.1")


def _leading(rng):
    yield Case(old_block(rng, leading=(2, 3)), "two leading axes")
    yield Case(old_block(rng, T=1), "one token alone")


def _types(rng):
    yield Case(in_float32(old_block(rng)), "all arrays in float32", 1e-4)


def _untouched(rng):
    yield Case(old_block(rng, leading=(2,)), "two sequences, looked at again after the call")


OLD_BLOCK = Exercise(
    name="gpt2_block",
    returns=("out",),
    reference=lambda **inputs: {"out": gpt2_block(**inputs)},
    claims=by_name(
        Claim(
            "silent",
            "A block that writes nothing returns its input, bit for bit.",
            _silent,
            ("out",),
        ),
        Claim("one_half", "Each half adds its own write to the stream.", _one_half, ("out",)),
        Claim("value", "The block computes what GPT-2's does.", _value, ("out",)),
        Claim("eps", "The ε that is passed is used, in both norms.", _eps, ("out",)),
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
    mistakes=OLD_BLOCK_MISTAKES,
)
