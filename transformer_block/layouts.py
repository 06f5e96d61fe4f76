"""The two layouts of RoPE's pairs, as orders of the columns of W_q and W_k."""

import numpy as np

from transformer_block.rope import half_split_order


def to_half_split(W, n_heads):
    """Reorder the columns of W_q or W_k from interleaved pairs to half-split ones.

    Parameters
    ----------
    W : ndarray of float, shape (d, H·K)
        Made for pairs (0, 1), (2, 3), … of each head.
    n_heads : int
        How many heads stand side by side in *this* matrix.

    Returns
    -------
    reordered : ndarray, shape (d, H·K)
        The same columns in an order made for pairs (0, K/2), (1, K/2 + 1), … of each head.

    Raises
    ------
    ValueError
        If the columns do not make ``n_heads`` heads of an even width.
    """
    return _by_head(W, n_heads, half_split_order(_head_width(W, n_heads)))


def to_interleaved(W, n_heads):
    """Reorder the columns of W_q or W_k from half-split pairs to interleaved ones.

    Parameters
    ----------
    W : ndarray of float, shape (d, H·K)
        Made for pairs (0, K/2), (1, K/2 + 1), … of each head, as Hugging Face stores them.
    n_heads : int
        How many heads stand side by side in *this* matrix.

    Returns
    -------
    reordered : ndarray, shape (d, H·K)
        The same columns in an order made for pairs (0, 1), (2, 3), … of each head.

    Raises
    ------
    ValueError
        If the columns do not make ``n_heads`` heads of an even width.
    """
    return _by_head(W, n_heads, np.argsort(half_split_order(_head_width(W, n_heads))))


def _head_width(W, n_heads):
    """Return K, after a look at whether the columns come out even."""
    if np.ndim(W) != 2 or n_heads < 1 or W.shape[1] % n_heads:
        raise ValueError(
            f"W must have shape (d, H·K) with {n_heads} heads in it: got {np.shape(W)}"
        )
    return W.shape[1] // n_heads


def _by_head(W, n_heads, order):
    """Put the columns of every head in this order."""
    return W.reshape(len(W), n_heads, -1)[..., order].reshape(W.shape)
