"""The causal mask: its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.attention.formulas import triangle
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.attention import causal_mask


def _mask(formula):
    return lambda T, S: {"mask": formula(T, S)}


def _square(rng):
    for T in rng.permutation((5, 7, 1)):
        yield Case({"T": int(T), "S": int(T)}, "as many queries as keys")


def _fewer(rng):
    yield Case({"T": int(rng.choice((2, 3))), "S": int(rng.choice((5, 7)))}, "the last few queries")
    yield Case({"T": 1, "S": int(rng.choice((5, 7)))}, "one query, as when text is generated")


MASK = Exercise(
    name="causal_mask",
    returns=("mask",),
    reference=_mask(lambda T, S: causal_mask(T, S).astype(float)),
    claims=by_name(
        Claim("square", "Query t sees the keys up to t, itself included.", _square, ("mask",)),
        Claim("fewer_queries", "The last query sees every key, always.", _fewer, ("mask",)),
    ),
    mistakes=(
        Mistake(
            "diagonal_hidden",
            "May a token see itself? What is left for the first one, if not?",
            _mask(lambda T, S: triangle(T, S, -1)),
        ),
        Mistake(
            "one_ahead",
            "Which key does query 0 see in your mask? It should be one only.",
            _mask(lambda T, S: triangle(T, S, 1)),
        ),
        Mistake(
            "last_sees_too_much",
            "If T < S: how many keys does your last query but one see? Is one not there yet?",
            _mask(lambda T, S: triangle(T, S, 1 if T < S else 0)),
        ),
        Mistake(
            "offset_against",
            "If T < S, to which side does your diagonal move? The last query should see all.",
            _mask(lambda T, S: triangle(T, S, 2 * (T - S))),
        ),
        Mistake(
            "forbidden_marked",
            "Your mask marks something. Is it what a query may see, or what it may not?",
            _mask(lambda T, S: ~triangle(T, S)),
        ),
        Mistake(
            "upside_down",
            "In which direction does time run in your mask? Look at row 0, then at the last row.",
            _mask(lambda T, S: ~triangle(T, S, -1)),
        ),
        Mistake(
            "top_left",
            "Your first query sees the first key alone. Which tokens are the queries, if T < S?",
            _mask(lambda T, S: triangle(T, S, T - S)),
        ),
        Mistake(
            "all_seen",
            "What does your mask hide?",
            _mask(lambda T, S: np.ones((T, S))),
        ),
        Mistake(
            "only_itself",
            "Your queries see one key each. May a token look back?",
            _mask(lambda T, S: triangle(T, S) & ~triangle(T, S, -1)),
        ),
        Mistake(
            "transposed",
            "Which axis of the mask belongs to the queries, the first or the second?",
            _mask(lambda T, S: triangle(T, S).T),
        ),
        Mistake(
            "additive",
            "Yours is something to add to scores. What is asked for: numbers, or true and false?",
            _mask(lambda T, S: np.where(triangle(T, S), 0.0, -np.inf)),
        ),
        Mistake(
            "queries_square",
            "How many columns has your mask, and how many keys are there?",
            _mask(lambda T, S: triangle(T, T)),
        ),
        Mistake(
            "keys_square",
            "How many rows has your mask, and how many queries are there?",
            _mask(lambda T, S: triangle(S, S)),
        ),
    ),
)
