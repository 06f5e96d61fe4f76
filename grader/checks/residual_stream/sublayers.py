"""Sublayers that an answer is given: they keep plain arrays, and count how often they are asked."""

from dataclasses import dataclass

import numpy as np

from grader.checks.engine.calling import describe


@dataclass
class Mixes:
    """Reads the tokens so far, as attention does, and bends what it read.

    A fickle one answers a second question otherwise than the first, as dropout does.
    """

    matrix: np.ndarray  # (d, d)
    fickle: bool = False
    asked: int = 0

    def __call__(self, t):
        """Return what is to be written: for each token from itself and those before it."""
        _require_rows("a sublayer", t)
        self.asked += 1
        size = 1.0 + 0.5 * self.fickle * (self.asked - 1)
        return size * np.tanh(so_far(t) @ self.matrix)


@dataclass
class Keeps:
    """Writes the same rows every time, out of an array that stays its own."""

    rows: np.ndarray

    def __call__(self, t):
        """Return the array itself, and no copy of it."""
        return self.rows


@dataclass
class PullsBack:
    """Gives the gradient of what a linear sublayer read, from that of what it wrote."""

    matrix: np.ndarray  # (d, d)
    fickle: bool = False
    asked: int = 0

    def __call__(self, dwritten):
        """Return a gradient for each token: from itself and those after it."""
        _require_rows("a sublayer's backward pass", dwritten)
        self.asked += 1
        size = 1.0 + 0.5 * self.fickle * (self.asked - 1)
        back = dwritten @ self.matrix.T / counts(dwritten)
        return size * np.flip(np.cumsum(np.flip(back, axis=-2), axis=-2), axis=-2)


def _require_rows(who, t):
    """Refuse what is not an array of tokens, in words that name the learner's slip."""
    if not isinstance(t, np.ndarray):
        raise TypeError(f"{who} takes one array and was given {describe(t)}")
    if t.ndim < 2:
        raise ValueError(f"{who} takes all tokens at once and was given {describe(t)}")


def so_far(t):
    """Average each token with those before it."""
    return np.cumsum(t, axis=-2) / counts(t)


def counts(t):
    """Count the tokens up to each one, shape (T, 1), in the dtype of t."""
    return np.arange(1, t.shape[-2] + 1, dtype=t.dtype)[:, None]
