"""The ledger of the stream: who wrote what, and that it adds up."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.residual_stream.formulas import fresh, in_float32, matrix, shape
from grader.checks.residual_stream.ledger_mistakes import MISTAKES
from grader.checks.residual_stream.sublayers import Keeps, Mixes
from transformer_block.residual_stream import stream_ledger

BOTH = ("out", "writes")
NUMBERS = (2, 3, 5)  # of sublayers


def _case(rng, about, leading=1, *, N=None, scale=1.0, eps=1e-5, fickle=False):
    drawn, N = shape(rng, leading), N or int(rng.choice(NUMBERS[1:]))
    inputs = {
        "x": witness.rows(rng, drawn, scale),
        "sublayers": [Mixes(matrix(rng, drawn[-1]), fickle) for _ in range(N)],
        "weights": np.stack([witness.gain(rng, drawn[-1]) for _ in range(N)]),
        "eps": eps,
    }
    return Case(inputs, about)


def _value(rng):
    yield _case(rng, "three or five sublayers")
    yield _case(rng, "two sublayers, ε = 0.3", N=2, eps=0.3)
    yield _case(rng, "two leading axes", 2)
    yield _case(rng, "one sequence without leading axes", 0)


def _small_writes(rng):
    yield _case(rng, "a stream of size 1e9, and writes of size 1", scale=1e9)


def _once(rng):
    yield _case(rng, "sublayers that answer otherwise when they are asked again", fickle=True)


def _types(rng):
    case = _case(rng, "all arrays in float32", 2)
    yield Case(in_float32(dict(case.inputs)), case.about, 1e-4)


def _untouched(rng):
    yield _case(rng, "ordinary rows, looked at again after the call", 2)
    case = _case(rng, "sublayers that write the same rows every time")
    kept = [Keeps(witness.rows(rng, case.inputs["x"].shape)) for _ in case.inputs["sublayers"]]
    yield Case(case.inputs | {"sublayers": kept}, case.about)


def _reference(x, sublayers, weights, eps):
    made = stream_ledger(x, [fresh(f) for f in sublayers], weights, eps)
    return dict(zip(BOTH, made, strict=True))


LEDGER = Exercise(
    name="stream_ledger",
    returns=BOTH,
    reference=_reference,
    claims=by_name(
        Claim(
            "out", "The stream at the end is that of one update after the other.", _value, ("out",)
        ),
        Claim("writes", "What each sublayer wrote is kept, in order.", _value, ("writes",)),
        Claim(
            "exactly",
            "A write is kept as it was, however large the stream is that it went into.",
            _small_writes,
            ("writes",),
        ),
        Claim("once", "Each sublayer is asked once.", _once, BOTH),
        Claim("types", "float32 goes in and float32 comes out.", _types, BOTH, keeps_dtype),
        Claim(
            "untouched",
            "x is left as it was, and what belongs to the sublayers too.",
            _untouched,
            BOTH,
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
