"""The pieces that formulas of this sheet, right and wrong, are put together from.

They are written apart from the library, with knobs that turn them wrong.
"""

import numpy as np


def swap(array):
    """Exchange the last two axes."""
    return np.swapaxes(array, -1, -2)


# Mask and softmax


def triangle(T, S, shift=0):
    """Tell which keys each of the last T of S tokens sees; ``shift`` lets it look ahead."""
    return np.arange(S) <= np.arange(T)[:, None] + S - T + shift


def soft(scores, axis=-1):
    """Take the softmax along an axis, less its largest score."""
    weights = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def hidden(scores, mask, fill=-np.inf):
    """Put ``fill`` in the place of the scores that may not be seen."""
    return np.where(mask, scores, fill)


def masked_softmax(scores, mask):
    """Hide what the mask forbids, then take the softmax of each row."""
    return soft(hidden(scores, mask))


def soft_backward(dweights, weights):
    """Send a gradient back through a softmax."""
    return weights * (dweights - np.sum(dweights * weights, axis=-1, keepdims=True))


# RoPE


def angles_of(positions, K, rope_base=10_000.0, *, exponent=lambda i, K: -2 * i / K):
    """Compute the angle of each pair at each position, with the exponent of pair i as a knob."""
    return np.asarray(positions)[:, None] * rope_base ** exponent(np.arange(K // 2), K)


def neighbours(K):
    """Return the places of the first and of the second member of each pair."""
    return np.arange(0, K, 2), np.arange(1, K, 2)


def halves(K):
    """Return the places of the pairs in the half-split layout."""
    return np.arange(K // 2), np.arange(K // 2, K)


def turned(x, angles, *, read=neighbours, write=None, formula=None):
    """Turn the pairs of x, with the layout that is read, the one that is written, the formula."""
    a, b = (x[..., places] for places in read(x.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    turn = formula or (lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos))
    out = np.empty(np.broadcast_shapes(x.shape, (*angles.shape[:-1], x.shape[-1])))
    first, second = (write or read)(x.shape[-1])
    out[..., first], out[..., second] = turn(a, b, cos, sin)
    return out


# Heads


def split(rows, H):
    """Cut rows into H heads, shape (..., H, T, K)."""
    *leading, T, width = rows.shape
    if width % H:
        raise ValueError("the heads do not come out even")
    return np.moveaxis(rows.reshape(*leading, T, H, width // H), -2, -3)


def merge(heads):
    """Put the heads of each token side by side, shape (..., T, H·K)."""
    *leading, H, T, K = heads.shape
    return np.moveaxis(heads, -3, -2).reshape(*leading, T, H * K)


def split_alone(rows, H):
    """Make the shape of heads without moving an axis: a slice of tokens, not of features."""
    *leading, T, width = rows.shape
    return rows.reshape(*leading, H, T, width // H)


def merge_alone(heads):
    """Make the shape of rows without moving the heads back."""
    *leading, H, T, K = heads.shape
    return heads.reshape(*leading, T, H * K)


def split_strided(rows, H):
    """Give head h the features h, h + H, h + 2H, …."""
    *leading, T, width = rows.shape
    if width % H:
        raise ValueError("the heads do not come out even")
    return np.moveaxis(rows.reshape(*leading, T, width // H, H), -1, -3)


def repeated(heads, H):
    """Give each key/value head to neighbouring queries: 0, 0, 1, 1."""
    return heads[..., np.arange(H) * heads.shape[-3] // H, :, :]


def tiled(heads, H):
    """Give the key/value heads out in turn: 0, 1, 0, 1."""
    _only_grouped(heads, H)
    return heads[..., np.arange(H) % heads.shape[-3], :, :]


def always_first(heads, H):
    """Give the first key/value head to every query."""
    _only_grouped(heads, H)
    return heads[..., np.zeros(H, dtype=int), :, :]


def averaged(heads, H):
    """Give every query the mean of all key/value heads."""
    _only_grouped(heads, H)
    return np.repeat(np.mean(heads, axis=-3, keepdims=True), H, axis=-3)


def _only_grouped(heads, H):
    if heads.shape[-3] == H:
        raise ValueError("only grouped heads show this mistake")


# The mixing of values


def mix(
    q, k, v, *, scale=None, mask=triangle, weigh=masked_softmax, share=repeated, share_values=None,
    late=lambda K: 1.0,
):  # fmt: skip
    """Mix values; the knobs are the factor of the scores, mask, softmax and sharing of heads."""
    H, T, K = q.shape[-3:]
    keys, values = share(k, H), (share_values or share)(v, H)
    factor = K**-0.5 if scale is None else scale(H, K)
    scores = q @ swap(keys) * factor
    return weigh(scores, mask(T, k.shape[-2])) @ values * late(K)
