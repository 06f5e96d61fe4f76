"""Functions whose central differences are known for every step, with no call of them."""

import numpy as np

from grader.checks.engine.travelling import travels
from transformer_block.gradcheck import STEP


@travels
def waves(t):
    """Add up sines, so that slopes have both signs and no derivative is zero."""
    return float(np.sum(np.sin(t) * (1.0 + np.arange(t.size).reshape(t.shape) / 3)))


@travels
def bowl(t):
    """Give a quadratic function in which every two entries meet."""
    flat = np.asarray(t).reshape(-1)
    squares = flat * flat * (1.0 + np.arange(flat.size) / 3)
    return float(np.sum(flat) ** 2 / 2 + np.sum(squares) + 5.0)


@travels
def cubes(t):
    """Add up third powers: a central difference is off by the square of the step."""
    return float(np.sum(t * t * t * (1.0 + np.arange(t.size).reshape(t.shape) / 3)))


def _ramp(t):
    """Weigh every entry otherwise, in the order of its place, as the functions do."""
    return 1.0 + np.arange(t.size).reshape(t.shape) / 3


def _waves_slope(t, h):
    return np.cos(t) * _ramp(t) * np.sinc(h / np.pi)


def _bowl_slope(t, h):
    ramp = np.arange(t.size).reshape(t.shape) / 3
    return np.sum(t) + 2 * t * (1 + ramp) + 0 * h


def _cubes_slope(t, h):
    return (3 * t * t + h * h) * _ramp(t)


SLOPE = {waves: _waves_slope, bowl: _bowl_slope, cubes: _cubes_slope}


def reference(f, x, step=STEP):
    """Return what differences give of one of these functions, for any step."""
    point = np.array(x, dtype=np.float64)
    return {"gradient": SLOPE[f](point, step * np.maximum(1.0, np.abs(point)))}
