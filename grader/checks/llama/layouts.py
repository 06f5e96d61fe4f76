"""The two layouts of RoPE: the columns of W_q and W_k in the other order, there and back."""

import numpy as np

from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.layouts import to_half_split, to_interleaved

WIDTHS = (6, 10, 14)  # of a head; with 4 features both directions are the same order


def _inputs(rng, n_heads=None, d=None):
    n_heads, K = n_heads or int(rng.choice([2, 3, 5])), int(rng.choice(WIDTHS))
    return {"W": witness.rows(rng, (d or 7, n_heads * K)), "n_heads": n_heads}


def _one_head(rng):
    yield Case(_inputs(rng, n_heads=1), "one head")


def _heads(rng):
    yield Case(_inputs(rng), "several heads")
    inputs = _inputs(rng)
    square = witness.rows(rng, (inputs["W"].shape[1],) * 2)
    yield Case(inputs | {"W": square}, "several heads, a square matrix")


def _types(rng):
    inputs = _inputs(rng)
    for dtype in (np.float32, np.float16):
        yield Case(inputs | {"W": inputs["W"].astype(dtype)}, f"{np.dtype(dtype)}", 0.0)


def _untouched(rng):
    yield Case(_inputs(rng), "several heads, looked at again after the call")


def _order(K, direction):
    order = np.concatenate([np.arange(0, K, 2), np.arange(1, K, 2)])
    return order if direction == "half" else np.argsort(order)


def _columns(W, n_heads, make):
    """Reorder the columns of every head by an order that is made from the head's width."""
    K = W.shape[1] // n_heads
    order = np.concatenate([h * K + make(K) for h in range(n_heads)])
    return {"reordered": W[:, order]}


def _mistakes(here, there):
    """List the mistakes of one direction; the other one is among them."""

    def as_one_head(W, n_heads):
        return _columns(W, 1, lambda K: _order(K, here))

    def rows_in_place(W, n_heads):
        if W.shape[0] != W.shape[1]:
            raise ValueError("only a square matrix shows this mistake")
        return {"reordered": _columns(W.T, n_heads, lambda K: _order(K, here))["reordered"].T}

    def heads_turned_inside_out(W, n_heads):
        wide = W.reshape(len(W), -1, n_heads)[:, _order(W.shape[1] // n_heads, here)]
        return {"reordered": wide.reshape(W.shape)}

    return (
        Mistake(
            "other_direction",
            "Which layout goes in, and which comes out? Follow one feature that is not at an end.",
            lambda W, n_heads: _columns(W, n_heads, lambda K: _order(K, there)),
        ),
        Mistake(
            "unchanged",
            "Which columns have moved?",
            lambda W, n_heads: {"reordered": W},
        ),
        Mistake(
            "as_one_head",
            "Do features leave their head on the way to their new place?",
            as_one_head,
        ),
        Mistake(
            "rows",
            "On which side of W do the features of a head lie, if x stands on the left?",
            rows_in_place,
        ),
        Mistake(
            "second_first",
            "A pair has a first and a second feature. Which of them leads in your order?",
            lambda W, n_heads: _columns(W, n_heads, lambda K: _swapped(K, here)),
        ),
        Mistake(
            "halves_swapped",
            "Does your order only exchange two halves of a head?",
            lambda W, n_heads: _columns(W, n_heads, lambda K: np.roll(np.arange(K), K // 2)),
        ),
        Mistake(
            "neighbours_swapped",
            "Does your order only exchange neighbours?",
            lambda W, n_heads: _columns(W, n_heads, lambda K: np.arange(K) ^ 1),
        ),
        Mistake(
            "mirrored",
            "Does your order run backwards?",
            lambda W, n_heads: _columns(W, n_heads, lambda K: _order(K, here)[::-1]),
        ),
        Mistake(
            "head_inside",
            "Which comes first in a row of W: all features of head 0, or feature 0 of all heads?",
            heads_turned_inside_out,
        ),
    )


def _swapped(K, direction):
    """Give the order in which the second features of the pairs are taken for the first."""
    if direction == "half":
        return np.concatenate([np.arange(1, K, 2), np.arange(0, K, 2)])
    return _order(K, direction).reshape(-1, 2)[:, ::-1].ravel()


def _exercise(function, direction, there, sentence):
    return Exercise(
        name=function.__name__,
        returns=("reordered",),
        reference=lambda W, n_heads: {"reordered": function(W, n_heads)},
        claims=by_name(
            Claim("one_head", sentence, _one_head, ("reordered",)),
            Claim("heads", "Every head is reordered by itself.", _heads, ("reordered",)),
            Claim(
                "types",
                "No number is changed, in whatever dtype.",
                _types,
                ("reordered",),
                keeps_dtype_of("W"),
            ),
            Claim(
                "untouched",
                "The given matrix is left as it was.",
                _untouched,
                ("reordered",),
                leaves_arguments,
            ),
        ),
        mistakes=_mistakes(direction, there),
    )


HALF_SPLIT = _exercise(
    to_half_split, "half", "inter", "First features of all pairs come first, then the second ones."
)
INTERLEAVED = _exercise(
    to_interleaved, "inter", "half", "Both features of a pair come to stand side by side."
)
