"""Heads: how the rows of a projection are cut, shared by queries, and put together again."""

import numpy as np


def split_heads(x, n_heads):
    """Cut each row into heads and move the heads in front of the tokens.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, H·K)
        The heads of a token side by side.
    n_heads : int
        H; it must divide the width.

    Returns
    -------
    heads : ndarray, shape (..., H, T, K)
        A view: nothing is copied.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide the width.
    """
    width = x.shape[-1]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads must divide the width: got width {width}, n_heads={n_heads}")
    heads = x.reshape(*x.shape[:-1], n_heads, width // n_heads)  # (..., T, H, K)
    return heads.swapaxes(-3, -2)  # (..., H, T, K)


def merge_heads(heads):
    """Put the heads of each token side by side again, the reverse of `split_heads`.

    Parameters
    ----------
    heads : ndarray of float, shape (..., H, T, K)
        One matrix of rows for each head.

    Returns
    -------
    x : ndarray, shape (..., T, H·K)
        One row for each token.
    """
    by_token = heads.swapaxes(-3, -2)  # (..., T, H, K)
    return by_token.reshape(*by_token.shape[:-2], -1)  # (..., T, H·K)


def repeat_heads(heads, n_heads):
    """Repeat each key or value head for the queries that share it: 0, 0, 1, 1, ….

    Parameters
    ----------
    heads : ndarray of float, shape (..., H_kv, S, K)
        Keys or values.
    n_heads : int
        H, the number of query heads, a multiple of H_kv.

    Returns
    -------
    repeated : ndarray, shape (..., H, S, K)
        One for each query head; ``heads`` itself if there are as many already.

    Raises
    ------
    ValueError
        If H_kv does not divide ``n_heads``.
    """
    n_kv_heads = heads.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads must be a multiple of the key/value heads: got n_heads={n_heads}, "
            f"{n_kv_heads} key/value heads"
        )
    if n_heads == n_kv_heads:
        return heads
    return np.repeat(heads, n_heads // n_kv_heads, axis=-3)  # (..., H, S, K)


def repeat_heads_backward(drepeated, n_kv_heads):
    """Add up the gradients of the copies that `repeat_heads` made of each head.

    Parameters
    ----------
    drepeated : ndarray of float, shape (..., H, S, K)
        Gradient of the loss with respect to ``repeated``.
    n_kv_heads : int
        H_kv, a divisor of H.

    Returns
    -------
    dheads : ndarray, shape (..., H_kv, S, K)
        Gradient with respect to ``heads``.
    """
    *leading, H, S, K = drepeated.shape
    if H == n_kv_heads:
        return drepeated
    return drepeated.reshape(*leading, n_kv_heads, H // n_kv_heads, S, K).sum(axis=-3)
