"""The ways in which mixing goes wrong: name, question, and the knobs of `mix` that do it."""

import numpy as np

from grader.checks.attention.formulas import (
    always_first,
    averaged,
    hidden,
    soft,
    tiled,
    triangle,
)


def _no_maximum(scores, mask):
    weights = np.exp(hidden(scores, mask))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def _one_maximum(scores, mask):
    weights = np.exp(hidden(scores, mask) - np.max(np.where(mask, scores, -np.inf)))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def _column_softmax(scores, mask):
    if scores.shape[-2] == 1:
        raise ValueError("one query has no column to speak of")
    return soft(hidden(scores, mask), axis=-2)


WEIGHING_MISTAKES = (
    (
        "column_axis",
        "Add up one query's weights. Along which axis does your softmax go?",
        {"weigh": _column_softmax},
    ),
    (
        "no_maximum",
        "Scores near 2000: what is exp(2000)? Is your own softmax at work here?",
        {"weigh": _no_maximum},
    ),
    (
        "one_maximum",
        "One query's scores are far above the others'. Whose maximum do you take away?",
        {"weigh": _one_maximum},
    ),
    (
        "masked_too_late",
        "You hide weights after the softmax. What do the weights of query 0 add to now?",
        {"weigh": lambda scores, mask: soft(scores) * mask},
    ),
    (
        "no_mask",
        "Change the last token. Does the first output move? It should not.",
        {"weigh": lambda scores, mask: soft(scores)},
    ),
    (
        "no_softmax",
        "You mix values with scores. Where do the scores become weights?",
        {"weigh": lambda scores, mask: scores * mask},
    ),
    (
        "zero_fill",
        "A hidden score of 0: what weight does it get? Is 0 a low score?",
        {"weigh": lambda scores, mask: soft(scores * mask)},
    ),
    (
        "fill_20",
        "Which number hides a score in your function? What is exp(−20) times 1e12?",
        {"weigh": lambda scores, mask: soft(hidden(scores, mask, -20.0))},
    ),
    (
        "fill_100",
        "Your hidden scores are about −100. Can a score that is not hidden lie below that?",
        {"weigh": lambda scores, mask: soft(hidden(scores, mask, -100.0))},
    ),
    (
        "fill_finite",
        "Your fill is a large negative number. Is there a number below every score?",
        {"weigh": lambda scores, mask: soft(hidden(scores, mask, -1e9))},
    ),
    (
        "fill_added",
        "You add a large negative number to hidden scores. Is it enough for a score of 3e9?",
        {"weigh": lambda scores, mask: soft(scores + np.where(mask, 0.0, -1e9))},
    ),
    (
        "diagonal_hidden",
        "May a token see itself? What is 0/0?",
        {"mask": lambda T, S: triangle(T, S, -1)},
    ),
    (
        "one_ahead",
        "Query 0 has two weights that are not zero in your function. How many should it have?",
        {"mask": lambda T, S: triangle(T, S, 1)},
    ),
    (
        "upside_down",
        "Which keys do you keep, those before the query or those after it?",
        {"mask": lambda T, S: ~triangle(T, S, -1)},
    ),
    (
        "inverted",
        "What does your mask mark: what may be seen or what may not? And where do you fill?",
        {"mask": lambda T, S: ~triangle(T, S)},
    ),
    (
        "top_left",
        "Three queries, seven keys: which tokens do the queries belong to?",
        {"mask": lambda T, S: triangle(T, S, T - S)},
    ),
)
SCALING_MISTAKES = (
    (
        "not_scaled",
        "How large is q · k when K grows? What are the scores divided by?",
        {"scale": lambda H, K: 1.0},
    ),
    (
        "scaled_by_K",
        "Are your scores divided by K or by its root?",
        {"scale": lambda H, K: 1 / K},
    ),
    (
        "scaled_by_width",
        "How many products does one score sum over: those of one head, or of all heads?",
        {"scale": lambda H, K: (H * K) ** -0.5},
    ),
    (
        "multiplied",
        "Do you divide by the root, or multiply with it?",
        {"scale": lambda H, K: K**0.5},
    ),
    (
        "scaled_too_late",
        "What do you divide by √K: what goes into the softmax, or what comes out of it?",
        {"scale": lambda H, K: 1.0, "late": lambda K: K**-0.5},
    ),
)
SHARING_MISTAKES = (
    (
        "tiled",
        "Which queries share key head 0 in your function: 0 and 1, or 0 and 2?",
        {"share": tiled},
    ),
    (
        "first_shared",
        "Do all queries use the same key head? How many are there?",
        {"share": always_first},
    ),
    (
        "values_tiled",
        "Your keys are shared by neighbours. Are your values shared in the same way?",
        {"share_values": tiled},
    ),
    (
        "averaged",
        "Are the key heads averaged? Each query head should have one of them.",
        {"share": averaged},
    ),
)
