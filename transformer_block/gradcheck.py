"""Gradients by finite differences, and the comparison that tells right from wrong."""

import numpy as np

from transformer_block._require import require_number

STEP = float(np.finfo(np.float64).eps ** (1 / 3))  # about 6e-6: truncation meets round-off


def numerical_gradient(f, x, step=STEP):
    """Estimate the gradient of a scalar function by central differences.

    Parameters
    ----------
    f : callable
        Takes an array of the shape of ``x``, returns one float.
    x : ndarray of float, shape (...)
        Where the gradient is taken; computed in float64 and left untouched.
    step : float
        Half the distance of the two evaluations, for entries up to size 1; above that it
        grows with the entry.

    Returns
    -------
    gradient : ndarray of float64, shape (...)
        ``gradient[i]`` is the slope of ``f`` along entry ``i``.

    Raises
    ------
    ValueError
        If ``step`` is not positive, or ``f`` does not return one number.

    Notes
    -----
    The error is about step² (truncation) plus 1e-16 / step (round-off); the default makes the
    sum smallest. Near a kink of ``f`` the estimate is wrong at any step.
    """
    if not step > 0:
        raise ValueError(f"step must be positive: got {step}")
    point = np.array(x, dtype=np.float64)
    gradient = np.empty_like(point)
    for i in np.ndindex(point.shape):
        above, below = point.copy(), point.copy()  # copies, which f may keep
        above[i] += step * max(1.0, abs(point[i]))
        below[i] -= step * max(1.0, abs(point[i]))
        distance = above[i] - below[i]  # as far as it really is, after rounding
        gradient[i] = (require_number("f", f(above)) - require_number("f", f(below))) / distance
    return gradient


def relative_error(a, b):
    """Measure how far two arrays are apart on a scale from 0 (equal) to 1 (opposed).

    Parameters
    ----------
    a : ndarray of float, shape (...)
        One gradient.
    b : ndarray of float, shape (...)
        The other, of the same shape.

    Returns
    -------
    error : float
        The length of a - b over the sum of the two lengths; 0 if both are zero.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"both gradients must have one shape: got {a.shape} and {b.shape}")
    total = np.linalg.norm(a) + np.linalg.norm(b)
    return float(np.linalg.norm(a - b) / total) if total else 0.0


def gradient_check(loss, tensors, gradients, step=STEP):
    """Compare the gradient of every tensor with finite differences, tensor by tensor.

    Parameters
    ----------
    loss : callable
        Takes a dict like ``tensors``, returns one float.
    tensors : dict
        Name to array: the point at which the gradients are taken.
    gradients : dict
        Name to array: the gradients to be judged, of the same names and shapes.
    step : float
        As in `numerical_gradient`.

    Returns
    -------
    errors : dict
        Name to `relative_error`. In float64 and without kinks, 1e-7 is a pass and
        1e-4 a fail.

    Raises
    ------
    ValueError
        If a gradient is missing, has no tensor, or has another shape.

    Notes
    -----
    One error per tensor, so that a small one (a gain) cannot hide behind a large one.
    """
    if tensors.keys() != gradients.keys():
        raise ValueError(
            f"gradients must have the names {sorted(tensors)}: got {sorted(gradients)}"
        )
    return {
        name: relative_error(
            numerical_gradient(lambda t, name=name: loss({**tensors, name: t}), tensor, step),
            gradients[name],
        )
        for name, tensor in tensors.items()
    }
