"""Inputs of this sheet: one block of odd sizes, shared heads, and gains far from one."""

import numpy as np

from grader.checks.engine import witness

HEADS = ((4, 2), (3, 3), (6, 2), (3, 1))
HIDDEN = (17, 19, 23)


def block(rng, *, leading=(), T=5, d=None, K=4, heads=None, h=None):
    """Draw rows of tokens and the weights of a block."""
    d = d or int(rng.choice(witness.WIDTHS))
    H, H_kv = heads or HEADS[rng.integers(len(HEADS))]
    h = h or int(rng.choice(HIDDEN))
    shapes = {
        "W_q": (d, H * K), "W_k": (d, H_kv * K), "W_v": (d, H_kv * K), "W_o": (H * K, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d),
    }  # fmt: skip
    params = {name: _matrix(rng, shape) for name, shape in shapes.items()}
    params |= {name: witness.gain(rng, d) for name in ("attn_norm", "ffn_norm")}
    return {"x": witness.rows(rng, (*leading, T, d)), "params": params, "n_heads": H}


def _matrix(rng, shape):
    """Draw a matrix that keeps the size of what it multiplies."""
    return rng.normal(size=shape) * 1.2 / shape[0] ** 0.5


def tiny(rng, leading=()):
    """Draw a block so small that every entry of it can be moved.

    Queries and keys are small as well: a softmax that has chosen one key leaves W_q a gradient
    near zero, and of that differences measure little but rounding.
    """
    inputs = block(rng, leading=leading, T=2, d=3, K=2, heads=(2, 1), h=2)
    smaller = {name: 0.4 * inputs["params"][name] for name in ("W_q", "W_k", "attn_norm")}
    return {**inputs, "params": inputs["params"] | smaller}


def gaps(rng, T=5):
    """Draw positions that grow by more than one."""
    return np.cumsum(rng.integers(2, 9, size=T))


def in_float32(inputs):
    """Turn the arrays of an input into float32, those in a dict as well."""
    return {name: _single(value) for name, value in inputs.items()}


def _single(value):
    if isinstance(value, dict):
        return in_float32(value)
    is_float = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_float else value
