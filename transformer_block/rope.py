"""RoPE: positions written into queries and keys by turning pairs of features."""

import numpy as np

from transformer_block._require import require_shape


def rope_angles(positions, K, rope_base=10_000.0):
    """Compute the angle by which each pair of a head is turned at each position.

    Parameters
    ----------
    positions : ndarray of int, shape (T,)
        The place of each token in the sequence, from 0.
    K : int
        The width of one head, an even number.
    rope_base : float
        How slow the slowest pair is: pair i turns by ``rope_base ** (-2 * i / K)`` a step.

    Returns
    -------
    angles : ndarray of float64, shape (T, K/2)
        In radians; in float64 because a float32 angle at position 100,000 is off by 0.004.

    Raises
    ------
    ValueError
        If ``K`` is odd, ``rope_base`` is not positive, or ``positions`` is not (T,).

    Notes
    -----
    Source: Su et al. 2021, RoFormer, equation (15).
    """
    if K % 2:
        raise ValueError(f"a head must have an even width to be turned in pairs: got K={K}")
    if not rope_base > 0:
        raise ValueError(f"rope_base must be positive: got {rope_base}")
    if np.ndim(positions) != 1:
        raise ValueError(f"positions must have shape (T,): got {np.shape(positions)}")
    frequencies = float(rope_base) ** (-np.arange(0, K, 2) / K)  # (K/2,)
    return np.multiply.outer(positions, frequencies)  # (T, K/2)


def rope_forward(x, positions=None, rope_base=10_000.0, half_split=False):
    """Turn every pair of features by an angle that grows with the position.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, K)
        Queries or keys, one row a token and head; any number of leading axes.
    positions : ndarray of int, shape (T,), optional
        The place of each token; ``None`` means 0, 1, …, T - 1.
    rope_base : float
        As in `rope_angles`.
    half_split : bool
        Which features make a pair: (0, 1), (2, 3), … as in the paper, or, if true,
        (0, K/2), (1, K/2 + 1), … as in Hugging Face checkpoints.

    Returns
    -------
    out : ndarray, shape (..., T, K)
        The turned rows, in the dtype of ``x``; a turn leaves the length of a row as it was.
    cache : tuple
        ``(cos, sin, half_split)``; ``cos`` and ``sin`` have shape (T, K/2) and the dtype of
        ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes or an odd width, or there are not T positions.
    """
    if np.ndim(x) < 2:
        raise ValueError(f"x must have shape (..., T, K): got {np.shape(x)}")
    T, K = x.shape[-2:]
    positions = np.arange(T) if positions is None else np.asarray(positions)
    require_shape("positions", positions, (T,))
    angles = rope_angles(positions, K, rope_base)  # (T, K/2)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    return _turn(x, cos, sin, half_split), (cos, sin, half_split)


def rope_backward(dout, cache):
    """Turn a gradient back: the transpose of a turn is the turn by the opposite angle.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, K)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(cos, sin, half_split)`` from `rope_forward`; it fits every array of the same T and
        K, so queries and keys can share one.

    Returns
    -------
    dx : ndarray, shape (..., T, K)
        Gradient with respect to ``x``, in the dtype of ``dout``.

    Raises
    ------
    ValueError
        If ``dout`` does not have the T and K of ``x``.
    """
    cos, sin, half_split = cache
    T, half = cos.shape
    require_shape("dout", dout, (*dout.shape[:-2], T, 2 * half))
    return _turn(dout, cos, -sin, half_split)


def _turn(x, cos, sin, half_split):
    """Turn the vectors (a, b) made of every pair by the angle with this cosine and sine."""
    half = x.shape[-1] // 2
    first, second = (
        (slice(half), slice(half, None)) if half_split else (slice(0, None, 2), slice(1, None, 2))
    )
    a, b = x[..., first], x[..., second]  # (..., T, K/2)
    out = np.empty(x.shape, x.dtype)  # (..., T, K)
    out[..., first] = a * cos - b * sin
    out[..., second] = a * sin + b * cos
    return out


def half_split_order(K):
    """Give the order of an interleaved head's features in the half-split layout.

    Parameters
    ----------
    K : int
        The width of one head, an even number.

    Returns
    -------
    order : ndarray of int, shape (K,)
        ``0, 2, 4, …, 1, 3, 5, …``: ``x[..., order]`` is the half-split form of an interleaved
        ``x``, and ``x[..., np.argsort(order)]`` the way back.

    Raises
    ------
    ValueError
        If ``K`` is odd.

    Notes
    -----
    Queries and keys are only ever compared with each other, so a checkpoint of one layout runs
    in the other once the columns of ``W_q`` and ``W_k`` are reordered head by head:
    ``W.reshape(d, -1, K)[..., order].reshape(d, -1)``.
    """
    if K % 2:
        raise ValueError(f"a head must have an even width to be turned in pairs: got K={K}")
    return np.arange(K).reshape(K // 2, 2).T.ravel()
