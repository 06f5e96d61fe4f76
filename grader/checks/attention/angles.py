"""RoPE's angles: their claims, their cases and the ways they go wrong."""

import numpy as np

from grader.checks.attention.formulas import angles_of
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.rope import rope_angles


def _case(positions, K, base, about):
    return Case({"positions": np.asarray(positions), "K": int(K), "rope_base": base}, about)


def _frequencies(rng):
    yield _case(np.arange(5), rng.choice((6, 10)), 10_000.0, "positions 0 to 4")
    yield _case(np.arange(5), rng.choice((6, 10)), 500.0, "positions 0 to 4, base 500")


def _positions(rng):
    start = int(rng.integers(7, 50))
    yield _case(start + np.arange(5), 6, 10_000.0, f"positions that start at {start}")
    gaps = np.cumsum(rng.integers(2, 9, size=5))
    yield _case(gaps[::-1], 10, 10_000.0, "positions with gaps, the last one first")
    yield _case(start + 100_000 + np.arange(3), 6, 10_000.0, "positions beyond 100,000")


def _angles(formula):
    return lambda positions, K, rope_base: {"angles": formula(positions, K, rope_base)}


def _exponent(exponent):
    """Make a mistake that gives pair i another exponent."""
    return _angles(lambda p, K, base: angles_of(p, K, base, exponent=exponent))


ANGLES = Exercise(
    name="rope_angles",
    returns=("angles",),
    reference=_angles(rope_angles),
    claims=by_name(
        Claim(
            "frequencies",
            "Pair i turns by rope_base to the power −2i/K at each step.",
            _frequencies,
            ("angles",),
        ),
        Claim(
            "positions",
            "The angle grows with the positions that are given, wherever they start.",
            _positions,
            ("angles",),
        ),
    ),
    mistakes=(
        Mistake(
            "half_exponent",
            "How fast is your slowest pair? It should come near to 1/rope_base.",
            _exponent(lambda i, K: -i / K),
        ),
        Mistake(
            "double_exponent",
            "2i is divided by something. By K, or by half of it?",
            _exponent(lambda i, K: -4 * i / K),
        ),
        Mistake(
            "sign_missing",
            "Do your later pairs turn faster or slower than the first?",
            _exponent(lambda i, K: 2 * i / K),
        ),
        Mistake(
            "from_one",
            "By how much does the first pair turn at each step? Where does i start?",
            _exponent(lambda i, K: -2 * (i + 1) / K),
        ),
        Mistake(
            "from_minus_one",
            "The paper counts pairs from 1 and writes 2(i − 1). From where do you count?",
            _exponent(lambda i, K: -2 * (i - 1) / K),
        ),
        Mistake(
            "ends_at_base",
            "Is the slowest pair's exponent −1, or a step short of it?",
            _exponent(lambda i, K: -i / (K / 2 - 1)),
        ),
        Mistake(
            "one_frequency",
            "Do all your pairs turn at one speed? Look at a row of the table.",
            _exponent(lambda i, K: 0.0 * i),
        ),
        Mistake(
            "turns",
            "An angle in radians: where does your 2π come from?",
            _angles(lambda p, K, base: 2 * np.pi * angles_of(p, K, base)),
        ),
        Mistake(
            "base_fixed",
            "Does your function use the base that it is given?",
            _angles(lambda p, K, base: angles_of(p, K)),
        ),
        Mistake(
            "positions_ignored",
            "Does your function use the positions, or only their number?",
            _angles(lambda p, K, base: angles_of(np.arange(len(p)), K, base)),
        ),
        Mistake(
            "positions_from_one",
            "A token at position 0: by which angle should it be turned?",
            _angles(lambda p, K, base: angles_of(p + 1, K, base)),
        ),
        Mistake(
            "offset_twice",
            "The positions may start elsewhere. How often do you add the start?",
            _angles(lambda p, K, base: angles_of(p + p[0], K, base)),
        ),
        Mistake(
            "offset_dropped",
            "The positions may start elsewhere. Do you take the start away again?",
            _angles(lambda p, K, base: angles_of(p - p[0], K, base)),
        ),
        Mistake(
            "twice_in_a_row",
            "Your table is K wide. How many pairs does a head have?",
            _angles(lambda p, K, base: np.repeat(angles_of(p, K, base), 2, axis=-1)),
        ),
        Mistake(
            "twice_as_halves",
            "Your table holds every angle twice, K/2 places apart. How many pairs are there?",
            _angles(lambda p, K, base: np.tile(angles_of(p, K, base), 2)),
        ),
        Mistake(
            "transposed",
            "Which axis of the table belongs to the tokens?",
            _angles(lambda p, K, base: angles_of(p, K, base).T),
        ),
        Mistake(
            "frequencies_alone",
            "Your result does not depend on a position. What is frequency times position?",
            _angles(lambda p, K, base: angles_of([1], K, base)[0]),
        ),
    ),
)
