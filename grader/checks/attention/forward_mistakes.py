"""The ways in which the layer's forward pass goes wrong."""

import numpy as np

from grader.checks.attention.formulas import (
    angles_of,
    halves,
    merge,
    merge_alone,
    mix,
    split,
    split_alone,
    split_strided,
    turned,
)
from grader.checks.attention.mixing_mistakes import (
    SCALING_MISTAKES,
    SHARING_MISTAKES,
    WEIGHING_MISTAKES,
)
from grader.checks.engine.exercise import Mistake


def _ends_in_output(make):
    """Make a mistake of a formula for the mixed heads; merging and W_o follow as they should."""
    return lambda x, params, **rest: {"out": merge(make(x, params, **rest)) @ params["W_o"]}


def _attend(
    x, params, n_heads, rope_base, positions=None, *, cut=split, turn=None, names="qkv", **knobs
):
    """Mix the heads, with knobs for the cut, the turn and the three matrices."""
    T = x.shape[-2]
    K = params["W_q"].shape[-1] // n_heads
    rows = {}
    for part, name in zip("qkv", names, strict=True):
        rows[part] = cut(x @ params[f"W_{name}"], params[f"W_{name}"].shape[-1] // K)
    angles = angles_of(np.arange(T) if positions is None else positions, K, rope_base)
    rows |= {part: (turn or _turn_two)(part, rows[part], angles) for part in rows}
    return mix(rows["q"], rows["k"], rows["v"], **knobs)


def _turn_two(part, rows, angles):
    """Turn queries and keys, and leave values alone."""
    return rows if part == "v" else turned(rows, angles)


def _layer(**knobs):
    return _ends_in_output(lambda x, params, **rest: _attend(x, params, **rest, **knobs))


def _turning(turn):
    return _layer(turn=turn)


def _changed(**changed):
    """Make a mistake that ignores an argument."""

    def make(x, params, **rest):
        return _attend(x, params, **{**rest, **changed})

    return _ends_in_output(make)


def _before_split(x, params, n_heads, rope_base, positions=None):
    """Turn the rows before they are cut: the frequencies run over all heads together."""
    T = x.shape[-2]
    K = params["W_q"].shape[-1] // n_heads
    heads = {}
    for part in "qkv":
        rows = x @ params[f"W_{part}"]
        place = np.arange(T) if positions is None else positions
        if part != "v":
            rows = turned(rows, angles_of(place, rows.shape[-1], rope_base))
        heads[part] = split(rows, rows.shape[-1] // K)
    return mix(heads["q"], heads["k"], heads["v"])


def _finish(formula):
    """Make a mistake in what happens to the mixed heads."""
    return lambda x, params, **rest: {"out": formula(x, params, _attend(x, params, **rest))}


def _by_heads(x, params, mixed):
    """Multiply each head with its own rows of W_o and forget to add the heads up."""
    H, K = mixed.shape[-3], mixed.shape[-1]
    return mixed @ params["W_o"].reshape(H, K, -1)


def _scale_of_rows(x, params, **rest):
    d = x.shape[-1]
    return _attend(x, params, **rest, scale=lambda H, K: d**-0.5)


MATRIX_MISTAKES = (
    Mistake(
        "queries_are_keys",
        "Which matrix makes your queries, and which one your keys?",
        _layer(names="kqv"),
    ),
    Mistake(
        "values_from_keys",
        "Which matrix makes your values?",
        _layer(names="qkk"),
    ),
    Mistake(
        "output_matrix_missing",
        "Your heads stand side by side. Which matrix writes them into the stream?",
        _finish(lambda x, params, mixed: merge(mixed)),
    ),
    Mistake(
        "residual_added",
        "Does attention add x back itself, or does the block do that?",
        _finish(lambda x, params, mixed: x + merge(mixed) @ params["W_o"]),
    ),
    Mistake(
        "heads_not_added",
        "Your result has an axis for the heads. What do the heads of a token do together?",
        _finish(_by_heads),
    ),
    Mistake(
        "scaled_by_model_width",
        "How many products does one score sum over? Is that the width of x?",
        _ends_in_output(_scale_of_rows),
    ),
)
HEAD_MISTAKES = (
    Mistake(
        "split_by_reshape",
        "After your split, does head 0 hold a slice of features, or a slice of tokens?",
        _layer(cut=split_alone),
    ),
    Mistake(
        "merge_by_reshape",
        "Which axis must come next to the features before heads are merged?",
        _finish(lambda x, params, mixed: merge_alone(mixed) @ params["W_o"]),
    ),
    Mistake(
        "both_by_reshape",
        "With your split and merge, which tokens does token 0 share a slice with?",
        lambda x, params, **rest: {
            "out": merge_alone(_attend(x, params, **rest, cut=split_alone)) @ params["W_o"]
        },
    ),
    Mistake(
        "split_by_stride",
        "Are the features of one head neighbours in the row, or H apart?",
        _layer(cut=split_strided),
    ),
)
ROPE_MISTAKES = (
    Mistake(
        "rope_missing",
        "Exchange the first two tokens. Does the last output know the difference?",
        _turning(lambda part, rows, angles: rows),
    ),
    Mistake(
        "rope_on_queries_only",
        "Queries know their positions in your function. Who else must?",
        _turning(lambda part, rows, angles: turned(rows, angles) if part == "q" else rows),
    ),
    Mistake(
        "rope_on_keys_only",
        "Keys know their positions in your function. Who else must?",
        _turning(lambda part, rows, angles: turned(rows, angles) if part == "k" else rows),
    ),
    Mistake(
        "rope_on_values",
        "Which of q, k and v are compared with each other? Only those need a position.",
        _turning(lambda part, rows, angles: turned(rows, angles)),
    ),
    Mistake(
        "rope_half_split",
        "Which two features of a head make a pair in your turn?",
        _turning(
            lambda part, rows, angles: rows if part == "v" else turned(rows, angles, read=halves)
        ),
    ),
    Mistake(
        "rope_against",
        "Do your queries and keys turn in the same direction?",
        _turning(
            lambda part, rows, angles: (
                rows if part == "v" else turned(rows, angles if part == "q" else -angles)
            )
        ),
    ),
    Mistake(
        "rope_mirrored",
        "A score should fall or rise with how far back a key lies. Which sign has your angle?",
        _turning(lambda part, rows, angles: rows if part == "v" else turned(rows, -angles)),
    ),
    Mistake(
        "rope_before_split",
        "What is K in your frequencies: the width of one head, or of all of them?",
        _ends_in_output(_before_split),
    ),
    Mistake(
        "rope_base_ignored",
        "Does your function pass its own base on to the angles?",
        _changed(rope_base=10_000.0),
    ),
    Mistake(
        "positions_ignored",
        "Which positions do you turn by: those that are given, or 0, 1, 2, …?",
        _changed(positions=None),
    ),
)

UNSEEN = ("fill_100", "fill_added", "no_maximum", "one_maximum", "top_left")  # in whole layers
FORWARD_MISTAKES = (
    *MATRIX_MISTAKES,
    *HEAD_MISTAKES,
    *ROPE_MISTAKES,
    *(
        Mistake(name, question, _layer(**knobs))
        for name, question, knobs in (*SCALING_MISTAKES, *WEIGHING_MISTAKES, *SHARING_MISTAKES)
        if name not in UNSEEN
    ),
)
