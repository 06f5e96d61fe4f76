"""The embedding, forward: one row for each id."""

import numpy as np

from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.stack.inputs import LEADING, sizes, some_ids
from transformer_block.embedding import embedding_forward


def case(rng, about, leading=1, dtype=np.float64):
    """Draw ids, and the table that they read."""
    V, T, d = sizes(rng)
    ids = some_ids(rng, V, (*LEADING[leading], T))
    return Case({"ids": ids, "weight": witness.rows(rng, (V, d)).astype(dtype)}, about)


def _value(rng):
    yield case(rng, "three sequences, ids that come again")
    yield case(rng, "one sequence without leading axes", 0)
    yield case(rng, "two leading axes", 2)


def _manners(rng):
    yield case(rng, "E in float32", 2, np.float32)


def _rows(formula):
    """Make a mistake in the rows that are looked up."""
    return lambda ids, weight: {"out": formula(ids, weight)}


def places(ids):
    """Give each position its place in its sequence."""
    return np.broadcast_to(np.arange(ids.shape[-1]), ids.shape)


def _first_sequence(ids, weight):
    """Give all sequences the rows of the first one."""
    return weight[np.broadcast_to(ids.reshape(-1, ids.shape[-1])[0], ids.shape)]


MISTAKES = (
    Mistake(
        "one_too_low",
        "Do ids count from 0 or from 1? Which row does id 0 get?",
        _rows(lambda ids, weight: weight[ids - 1]),
    ),
    Mistake(
        "one_too_high",
        "Which row does id 0 get: the first, or the second?",
        _rows(lambda ids, weight: weight[(ids + 1) % len(weight)]),
    ),
    Mistake(
        "positions",
        "Which number picks the row: the token's id, or its place in the text?",
        _rows(lambda ids, weight: weight[places(ids)]),
    ),
    Mistake(
        "position_added",
        "Does anything about the place of a token enter here? Two tokens of one id are two rows.",
        _rows(lambda ids, weight: weight[ids] + weight[places(ids)]),
    ),
    Mistake(
        "root_of_d",
        "Are the rows handed on as they are? By which factor do yours differ?",
        _rows(lambda ids, weight: weight[ids] * weight.shape[1] ** 0.5),
    ),
    Mistake(
        "normalised",
        "Does a norm belong into the look-up? What length have your rows?",
        _rows(lambda ids, weight: weight[ids] / np.sqrt(np.mean(weight[ids] ** 2, -1))[..., None]),
    ),
    Mistake(
        "padding",
        "Is id 0 a token like any other here? What row does it get from you?",
        _rows(lambda ids, weight: weight[ids] * (ids > 0)[..., None]),
    ),
    Mistake(
        "sorted",
        "In which order do the ids stand in your result? And in the text?",
        _rows(lambda ids, weight: weight[np.sort(ids, axis=-1)]),
    ),
    Mistake(
        "first_sequence",
        "Do all sequences get the rows of the first one?",
        _rows(_first_sequence),
    ),
)


FORWARD = Exercise(
    name="embedding_forward",
    returns=("out", "cache"),
    reference=lambda ids, weight: {"out": embedding_forward(ids, weight)[0]},
    claims=by_name(
        Claim("value", "Each id gets its row of E, whatever axes ids has.", _value, ("out",)),
        Claim(
            "types", "The rows have the dtype of E.", _manners, ("out",), keeps_dtype_of("weight")
        ),
    ),
    mistakes=MISTAKES,
)
