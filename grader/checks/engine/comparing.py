"""Comparing numbers: what counts as equal, and where two arrays differ most."""

import numpy as np

FLOOR = 1e-300  # makes 0 equal to 0 and to nothing else


def as_numbers(value):
    """Turn an answer into a plain float64 array; ``None`` where it is not made of numbers.

    A list, a scalar and any subclass of ndarray become a base-class array, so that nothing an
    answer defines takes part in the comparison.
    """
    try:
        array = np.asarray(float(value) if type(value) is int else value)  # an int of any size
        return (
            np.array(array, dtype=np.float64, subok=False) if array.dtype.kind in "biuf" else None
        )
    except (TypeError, ValueError, OverflowError):
        return None


def agree(got, want, tolerance):
    """Tell whether two arrays are equal to within a tolerance of each row's largest entry."""
    if got.shape != want.shape:
        return False
    if got.size == 0:
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.all(_errors(got, want) <= tolerance))


def farthest(got, want):
    """Return the index of the entry that is farthest from what was wanted."""
    errors = _errors(got, want)
    return np.unravel_index(int(np.argmax(errors)), got.shape)


def _errors(got, want):
    """Error of each entry relative to the largest finite one wanted in its row; nan is inf."""
    sizes = np.where(np.isfinite(want), np.abs(want), 0.0)
    scale = np.max(sizes, axis=-1, keepdims=True) if want.ndim else sizes
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(got - want) / np.maximum(scale, FLOOR)
    both_nan = np.isnan(got) & np.isnan(want)
    same_inf = np.isinf(want) & (got == want)
    return np.where(both_nan | same_inf, 0.0, np.where(np.isnan(errors), np.inf, errors))
