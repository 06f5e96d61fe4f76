"""The pieces that formulas of this sheet, right and wrong, are put together from."""

import math

import numpy as np

from grader.checks.engine import witness

HIDDEN = (17, 19, 23)


def sigmoid(x):
    """Return 1 / (1 + exp(-x)), written so that nothing overflows."""
    return 0.5 * (1 + np.tanh(x / 2))


def silu(x):
    """Return x times its sigmoid."""
    return x * sigmoid(x)


def slope(x):
    """Return the derivative of SiLU."""
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def gelu(x):
    """Return the tanh form of GELU."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def relu(x):
    """Return x where it is positive, else 0."""
    return np.maximum(x, 0.0)


def weight_gradient(x, dout):
    """Sum the outer products of all tokens."""
    return np.einsum("ti,tj->ij", x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1]))


def weights(rng, d, scale=1.0):
    """Draw the three matrices of a net whose hidden width is a prime of its own."""
    h = int(rng.choice(HIDDEN))
    return {
        "W_gate": witness.rows(rng, (d, h), scale / math.sqrt(d)),
        "W_up": witness.rows(rng, (d, h), scale / math.sqrt(d)),
        "W_down": witness.rows(rng, (h, d), scale / math.sqrt(h)),
    }


def as_type(inputs, dtype):
    """Give every array among the inputs, those in a dict included, another dtype."""
    if isinstance(inputs, dict):
        return {name: as_type(value, dtype) for name, value in inputs.items()}
    return inputs.astype(dtype)
