"""The embedding, backward: many gradients for one row."""

import numpy as np

from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.stack.lookup import case, places
from transformer_block.embedding import embedding_backward


def _case(rng, about, leading=1, dtype=np.float64):
    inputs = case(rng, "", leading, dtype).inputs
    shape = (*inputs["ids"].shape, inputs["weight"].shape[1])
    return Case({"dout": witness.rows(rng, shape).astype(dtype), **inputs}, about)


def _value(rng):
    yield _case(rng, "one sequence in which ids come again", 0)
    yield _case(rng, "three sequences that share ids")


def _axes(rng):
    yield _case(rng, "two leading axes", 2)
    drawn = _case(rng, "gradients of very different size")
    dout = witness.uneven_rows(rng, drawn.inputs["dout"].shape)
    yield Case(drawn.inputs | {"dout": dout}, drawn.about)


def _types(rng):
    drawn = _case(rng, "all arrays in float32", 1, np.float32)
    yield Case(drawn.inputs, drawn.about, 1e-5)


def _untouched(rng):
    yield _case(rng, "ordinary gradients, looked at again after the call", 2)


def scattered(dout, ids, weight):
    """Add every gradient to its row: the right answer, written apart from the library."""
    one_hot = ids.reshape(-1)[:, None] == np.arange(len(weight))
    return one_hot.T.astype(np.float64) @ dout.reshape(-1, dout.shape[-1])


def assigned(dout, ids, weight, order=slice(None)):
    """Let one position of each id overwrite the others."""
    table = np.zeros(weight.shape)
    for i, row in list(zip(ids.ravel(), dout.reshape(-1, dout.shape[-1]), strict=True))[order]:
        table[i] = row
    return table


def _counts(ids, weight):
    return np.bincount(ids.ravel(), minlength=len(weight))[:, None]


def _one_sequence(which):
    def formula(dout, ids, weight):
        if ids.ndim < 2:
            raise ValueError("only several sequences show this mistake")
        axes = ids.ndim - 1
        at = (which,) * axes
        return scattered(dout[at], ids[at], weight)

    return formula


def _overwritten_by_sequences(dout, ids, weight):
    """Add within each sequence, and let each sequence overwrite the rows of the one before."""
    table = np.zeros(weight.shape)
    flat = ids.reshape(-1, ids.shape[-1])
    for row, grads in zip(flat, dout.reshape(*flat.shape, -1), strict=True):
        table[row] = scattered(grads, row, weight)[row]
    return table


def _overwritten_at_a_place(dout, ids, weight):
    """Add place after place, and let the sequences overwrite each other there."""
    if ids.ndim < 2:
        raise ValueError("only several sequences show this mistake")
    table = np.zeros(weight.shape)
    for t in range(ids.shape[-1]):
        table[ids[..., t]] += dout[..., t, :]
    return table


def _table(formula):
    """Make a mistake in the gradient of E."""
    return lambda dout, ids, weight: {"dweight": formula(dout, ids, weight)}


MISTAKES = (
    Mistake(
        "last_only",
        "An id comes three times. How many of its three gradients reach its row? "
        "What does `array[ids] += g` do with an index that comes again?",
        _table(assigned),
    ),
    Mistake(
        "first_only",
        "An id comes three times. Which of its gradients is in its row, and where are the others?",
        _table(lambda *given: assigned(*given, order=slice(None, None, -1))),
    ),
    Mistake(
        "averaged",
        "Do the gradients of one id add up, or do you take their mean?",
        _table(lambda dout, ids, w: scattered(dout, ids, w) / np.maximum(_counts(ids, w), 1)),
    ),
    Mistake(
        "last_times_count",
        "Two positions of one id have different gradients. Does your row hold their sum, "
        "or one of them several times?",
        _table(lambda dout, ids, w: assigned(dout, ids, w) * _counts(ids, w)),
    ),
    Mistake(
        "counted_again",
        "Does an id that comes three times multiply its gradient once more?",
        _table(lambda dout, ids, w: scattered(dout, ids, w) * _counts(ids, w)),
    ),
    Mistake(
        "mean_over_tokens",
        "Is anything averaged here? Any mean is in dout already.",
        _table(lambda dout, ids, w: scattered(dout, ids, w) / ids.size),
    ),
    Mistake(
        "starts_from_weight",
        "What is in your array before the first gradient is added?",
        _table(lambda dout, ids, w: scattered(dout, ids, w) + w),
    ),
    Mistake(
        "sign",
        "Is it the gradient that is asked for, or the step against it?",
        _table(lambda dout, ids, w: -scattered(dout, ids, w)),
    ),
    Mistake(
        "one_too_low",
        "Which row belongs to id 0 in your table?",
        _table(lambda dout, ids, w: np.roll(scattered(dout, ids, w), -1, axis=0)),
    ),
    Mistake(
        "positions",
        "To which row does a gradient belong: that of its id, or that of its place?",
        _table(lambda dout, ids, w: scattered(dout, places(ids), w)),
    ),
    Mistake(
        "padding",
        "Is id 0 a token like any other here? What has become of its gradient?",
        _table(lambda dout, ids, w: scattered(dout * (ids > 0)[..., None], ids, w)),
    ),
    Mistake(
        "first_sequence",
        "Do all sequences have their say in the table, or only the first?",
        _table(_one_sequence(0)),
    ),
    Mistake(
        "last_sequence",
        "Do all sequences have their say in the table, or only the last?",
        _table(_one_sequence(-1)),
    ),
    Mistake(
        "sequences_overwrite",
        "Within a sequence your rows add up. What happens to a row that the next one uses too?",
        _table(_overwritten_by_sequences),
    ),
    Mistake(
        "places_overwrite",
        "You add place after place. What if two sequences have one id at the same place?",
        _table(_overwritten_at_a_place),
    ),
    Mistake(
        "scaled_by_row",
        "Does the row's own value enter its gradient? The look-up is a copy.",
        _table(lambda dout, ids, w: scattered(dout, ids, w) * w),
    ),
    Mistake(
        "root_of_d",
        "Did the forward pass multiply the rows by anything?",
        _table(lambda dout, ids, w: scattered(dout, ids, w) * w.shape[1] ** 0.5),
    ),
)


def _arguments(inputs, companions):
    """Pass the cache of the library, or the one that the learner's own forward makes."""
    ids, weight = inputs["ids"], inputs["weight"]
    yield {"dout": inputs["dout"], "cache": (ids, weight)}
    if "forward" in companions:
        yield from cache_of(companions["forward"], inputs["dout"], ids, weight)


BACKWARD = Exercise(
    name="embedding_backward",
    returns=("dweight",),
    reference=lambda dout, ids, weight: {"dweight": embedding_backward(dout, (ids, weight))},
    claims=by_name(
        Claim(
            "repeated",
            "A row gets the sum of the gradients of all positions that looked it up.",
            _value,
            ("dweight",),
        ),
        Claim(
            "axes",
            "That holds for any number of sequences and gradients of any size.",
            _axes,
            ("dweight",),
        ),
        Claim(
            "types",
            "float32 goes in and float32 comes out.",
            _types,
            ("dweight",),
            keeps_dtype_of("weight"),
        ),
        Claim(
            "untouched",
            "dout and the cache are left as they were.",
            _untouched,
            ("dweight",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
    arguments=_arguments,
    companions={"forward": "embedding_forward"},
)
