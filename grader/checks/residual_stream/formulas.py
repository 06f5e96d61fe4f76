"""The pieces that formulas of this sheet, right and wrong, are put together from."""

import copy
from dataclasses import replace

import numpy as np

from grader.checks.engine import witness
from grader.checks.residual_stream.sublayers import Keeps

TOKENS, WIDTHS = (5, 7), (11, 13)


def shape(rng, leading=1):
    """Draw a shape (..., T, d) of distinct primes."""
    axes = rng.permutation(witness.LEADING)[:leading]
    return (*map(int, axes), int(rng.choice(TOKENS)), int(rng.choice(WIDTHS)))


def matrix(rng, d):
    """Draw a matrix that keeps the size of what it multiplies, and has no symmetry."""
    return 1.2 * rng.normal(size=(d, d)) / d**0.5


def mean_square(x):
    """Average the squares of each row, shape (..., 1)."""
    return np.mean(x * x, axis=-1, keepdims=True)


def norm(x, weight=1.0, eps=1e-5):
    """Divide each row by its RMS and multiply by the gain."""
    return x / np.sqrt(mean_square(x) + eps) * weight


def centred_norm(x, weight, eps):
    """Do what LayerNorm does."""
    return norm(x - np.mean(x, axis=-1, keepdims=True), weight, eps)


def one_norm(x, weight, eps):
    """Divide all rows by one RMS, that of the whole array."""
    return x / np.sqrt(np.mean(x * x) + eps) * weight


def fresh(sublayer):
    """Return a sublayer that has not been asked yet, so that a formula leaves no trace in it."""
    return copy.deepcopy(sublayer)


def alone(sublayer):
    """Ask a sublayer about every token by itself, so that no token can read another."""
    return lambda t: np.concatenate(
        [sublayer(t[..., i : i + 1, :]) for i in range(t.shape[-2])], axis=-2
    )


def asked_twice(sublayer, t):
    """Ask two times and take the second answer."""
    sublayer(t)
    return sublayer(t)


def in_float32(value):
    """Turn every array of an input into float32, what a sublayer keeps included."""
    if isinstance(value, dict):
        return {name: in_float32(part) for name, part in value.items()}
    if isinstance(value, list):
        return [in_float32(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.astype(np.float32)
    if isinstance(value, Keeps):
        return replace(value, rows=in_float32(value.rows))
    return replace(value, matrix=in_float32(value.matrix)) if hasattr(value, "matrix") else value
