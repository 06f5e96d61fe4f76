"""Mixing values: scores, mask, softmax and weighted mean, for heads that are given."""

from grader.checks.attention.formulas import hidden, mix, soft, swap, triangle
from grader.checks.attention.inputs import heads, in_float32, lift
from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.attention.mixing_mistakes import (
    SCALING_MISTAKES,
    SHARING_MISTAKES,
    WEIGHING_MISTAKES,
)
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.attention import causal_attention_forward

ROUGH = 1e-5  # scores of size 3e9 are rounded to about 4e-7


def _value(rng):
    yield Case(heads(rng), "three heads")
    yield Case(heads(rng, leading=(2,), K=10), "two sequences of three heads")


def _stable(rng):
    inputs = lift(heads(rng), 2000.0, rows=slice(3, 4))
    yield Case(inputs, "the scores of one query are 2000 higher", ROUGH)


def _future(rng):
    inputs = heads(rng)
    inputs["v"][..., -1, :] = 1e12
    yield Case(inputs, "the last token's value is 1e12")
    yield Case(lift(heads(rng), -300.0), "all scores lie near −300", 1e-8)
    yield Case(lift(heads(rng), -3e9), "all scores lie near −3e9", ROUGH)
    inputs = lift(heads(rng), 3e9, columns=slice(-1, None))
    yield Case(inputs, "the last token's key fits every query with 3e9", ROUGH)


def _grouped(rng):
    yield Case(heads(rng, H=4, H_kv=2), "4 query heads, 2 key/value heads")
    inputs = heads(rng, H=6, H_kv=3, leading=(2,))
    yield Case(inputs, "6 query heads, 3 key/value heads, two sequences")


def _fewer(rng):
    yield Case(heads(rng, T=3, S=7), "the last 3 of 7 tokens are the queries")
    yield Case(heads(rng, T=1, S=5), "the last of 5 tokens is the query")


def _types(rng):
    yield Case(in_float32(heads(rng)), "all arrays in float32", 1e-5)


def _untouched(rng):
    yield Case(heads(rng), "three heads, looked at again after the call")


def _out(**knobs):
    return lambda q, k, v: {"out": mix(q, k, v, **knobs)}


def _as_square(q, k):
    if q.shape != k.shape:
        raise ValueError("only as many queries as keys, and heads, show this mistake")


def _weights(q, k):
    _as_square(q, k)
    scores = q @ swap(k) / q.shape[-1] ** 0.5
    return scores, triangle(*scores.shape[-2:])


def _across(q, k, v):
    """Give the weights to the wrong side: value s is spread over the queries."""
    scores, mask = _weights(q, k)
    return {"out": swap(soft(hidden(scores, mask))) @ v}


def _swapped(q, k, v):
    _as_square(q, k)
    return {"out": mix(k, q, v)}


MIXING = Exercise(
    name="causal_attention_forward",
    returns=("out", "cache"),
    reference=lambda q, k, v: {"out": causal_attention_forward(q, k, v)[0]},
    claims=by_name(
        Claim("value", "Each query gets a weighted mean of the values.", _value, ("out",)),
        Claim("stable", "Large scores of one query disturb nobody.", _stable, ("out",)),
        Claim("future", "Nothing of the future gets through, ever.", _future, ("out",)),
        Claim("grouped", "Neighbouring query heads share a key head.", _grouped, ("out",)),
        Claim("fewer_queries", "The queries may be the last few tokens.", _fewer, ("out",)),
        Claim("types", "float32 goes in and comes out.", _types, ("out",), keeps_dtype_of("q")),
        Claim(
            "untouched",
            "The three arguments stay as they were.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        *(
            Mistake(name, question, _out(**knobs))
            for name, question, knobs in (
                *SCALING_MISTAKES,
                *WEIGHING_MISTAKES,
                *SHARING_MISTAKES,
            )
        ),
        Mistake(
            "weights_transposed",
            "Row t of the weights says what query t takes. Which side of them do the values meet?",
            _across,
        ),
        Mistake(
            "swapped",
            "Row t of the scores should belong to query t. Is it q or k that gives your rows?",
            _swapped,
        ),
        Mistake(
            "keys_mixed",
            "What does a query take home: the keys that it was compared with, or the values?",
            lambda q, k, v: {"out": mix(q, k, k)},
        ),
    ),
)
