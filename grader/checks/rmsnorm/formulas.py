"""The pieces that formulas of this sheet, right and wrong, are put together from."""

import numpy as np


def mean_square(x):
    """Average the squares of each row, shape (..., 1)."""
    return np.mean(x * x, axis=-1, keepdims=True)


def inv_rms(x, eps):
    """Return the inverse RMS r of each row, shape (..., 1)."""
    return 1.0 / np.sqrt(mean_square(x) + eps)


def centred(x):
    """Subtract from each row its mean."""
    return x - np.mean(x, axis=-1, keepdims=True)


def dot(a, b):
    """Multiply matching rows and sum, shape (..., 1)."""
    return np.sum(a * b, axis=-1, keepdims=True)


def pull_back(dz, x, eps, *, power=3, factor=-1.0, c=None, d=None):
    """Pull a gradient back through x·r: ``r dz - x r³ c / d``, with knobs that turn it wrong."""
    r = inv_rms(x, eps)
    c = dot(dz, x) if c is None else c
    d = x.shape[-1] if d is None else d
    return r * dz + factor * x * r**power * c / d
