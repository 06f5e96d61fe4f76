"""Logits and the text that they should tell: ordinary ones, and some that overflow."""

import numpy as np

from grader.checks.engine.exercise import Case
from grader.checks.stack.inputs import LEADING, sizes, some_ids, spread_logits

EVEN = slice(None, None, 2)


def case(rng, about, leading=1, scale=1.0):
    """Draw logits, and the text that they should tell."""
    V, T, _ = sizes(rng)
    shape = (*LEADING[leading], T)
    logits = scale * spread_logits(rng, (*shape, V))
    return Case({"logits": logits, "ids": some_ids(rng, V, shape)}, about)


def lifted(rng, offset, about, positions=slice(None)):
    """Add one number to all logits of some positions: no probability changes."""
    drawn = case(rng, about)
    logits = drawn.inputs["logits"].copy()
    logits[..., positions, :] += offset
    return Case(drawn.inputs | {"logits": logits}, about)


def surprised(rng):
    """Make tokens come that the logits had all but excluded."""
    drawn = case(rng, "tokens come whose probability was about 1e-26")
    logits, ids = drawn.inputs["logits"].copy(), drawn.inputs["ids"]
    kept = logits[..., :-1, :]
    at = ids[..., 1:, None]
    np.put_along_axis(kept, at, np.take_along_axis(kept, at, axis=-1) - 60.0, axis=-1)
    return Case({"logits": logits, "ids": ids}, drawn.about)


def sharp(rng):
    """Draw sharp logits that doubt the next token, so that p − 1 keeps its digits."""
    drawn = case(rng, "sharp logits", 1, 8.0)
    logits, ids = drawn.inputs["logits"].copy(), drawn.inputs["ids"]
    kept = logits[..., :-1, :]
    at = ids[..., 1:, None]
    np.put_along_axis(kept, at, np.minimum(np.take_along_axis(kept, at, axis=-1), 0.0), axis=-1)
    return Case({"logits": logits, "ids": ids}, drawn.about)


def towering(rng, further=0):
    """Let one logit stand far above the others: that of the next token, or of one further on."""
    drawn = case(rng, "at every second position one logit is 2000 above the others")
    logits, ids = drawn.inputs["logits"].copy(), drawn.inputs["ids"]
    kept = logits[..., :-1, :][..., EVEN, :]
    at = (ids[..., 1:, None][..., EVEN, :] + further) % logits.shape[-1]
    np.put_along_axis(kept, at, 2000.0, axis=-1)
    return Case({"logits": logits, "ids": ids}, drawn.about)
