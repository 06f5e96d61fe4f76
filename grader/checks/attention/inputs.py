"""Inputs of this sheet: several heads, shared heads, no two axes alike."""

import numpy as np

from grader.checks.engine import witness


def heads(rng, *, H=3, H_kv=None, T=5, S=None, K=6, leading=()):
    """Draw queries, keys and values of the last T of S tokens."""
    H_kv, S = H_kv or H, S or T
    return {
        "q": witness.rows(rng, (*leading, H, T, K)),
        "k": witness.rows(rng, (*leading, H_kv, S, K)),
        "v": witness.rows(rng, (*leading, H_kv, S, K)),
    }


def lift(inputs, offset, rows=slice(None), columns=slice(None)):
    """Add one offset to the scores of some queries with some keys, by a feature of their own."""
    q, k = inputs["q"].copy(), inputs["k"].copy()
    q[..., 0], k[..., 0] = 0.0, 0.0
    size = (abs(offset) * q.shape[-1] ** 0.5) ** 0.5
    q[..., rows, 0] = size
    k[..., columns, 0] = np.copysign(size, offset)
    return {**inputs, "q": q, "k": k}


def layer(rng, *, H=3, H_kv=None, T=5, K=6, d=7, leading=(), base=10_000.0, positions=None):
    """Draw rows of tokens and the four matrices of an attention layer."""
    H_kv = H_kv or H
    params = {
        "W_q": matrix(rng, d, H * K),
        "W_k": matrix(rng, d, H_kv * K),
        "W_v": matrix(rng, d, H_kv * K),
        "W_o": matrix(rng, H * K, d),
    }
    inputs = {
        "x": witness.rows(rng, (*leading, T, d)),
        "params": params,
        "n_heads": H,
        "rope_base": base,
    }
    return inputs if positions is None else {**inputs, "positions": np.asarray(positions)}


def matrix(rng, rows, columns):
    """Draw a matrix that keeps the size of what it multiplies."""
    return rng.normal(size=(rows, columns)) * 1.4 / rows**0.5


def in_float32(inputs):
    """Turn the arrays of an input into float32, those in a dict as well."""
    return {name: _single(value) for name, value in inputs.items()}


def _single(value):
    if isinstance(value, dict):
        return in_float32(value)
    is_float = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_float else value
