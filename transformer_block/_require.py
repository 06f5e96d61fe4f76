"""What a function may ask of its arguments: one plain sentence each when it is not met."""

import numpy as np


def require_width(x, **vectors):
    """Raise ``ValueError`` unless ``x`` is (..., d) and every named vector has shape (d,)."""
    if np.ndim(x) == 0:
        raise ValueError("x must have shape (..., d) with at least one axis: got a scalar")
    d = x.shape[-1]
    for name, vector in vectors.items():
        if np.shape(vector) != (d,):
            raise ValueError(
                f"{name} must have shape (d,) = ({d},), the width of x: got {np.shape(vector)}"
            )


def require_eps(eps):
    """Raise ``ValueError`` unless ``eps`` is zero or more."""
    if not eps >= 0:
        raise ValueError(f"eps must be zero or more: got {eps}")


def require_shape(name, array, shape):
    """Raise ``ValueError`` unless the array has exactly this shape."""
    if np.shape(array) != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}: got {np.shape(array)}")
