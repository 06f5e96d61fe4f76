"""Softmax, safe at any size of score, and its backward pass."""

import numpy as np

from transformer_block._require import require_shape


def softmax(scores):
    """Turn each row of scores into weights that are positive and add to one.

    Parameters
    ----------
    scores : ndarray of float, shape (..., S)
        Any real numbers; minus infinity asks for a weight of exactly zero.

    Returns
    -------
    weights : ndarray, shape (..., S)
        ``exp(scores)`` over its sum along the last axis, in the dtype of ``scores``; finite for
        scores of any size.
    """
    # What is taken away from a row cancels in the fraction; so no exponential overflows.
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def softmax_backward(dweights, weights):
    """Send a gradient back through a softmax.

    Parameters
    ----------
    dweights : ndarray of float, shape (..., S)
        Gradient of the loss with respect to ``weights``.
    weights : ndarray of float, shape (..., S)
        What `softmax` returned.

    Returns
    -------
    dscores : ndarray, shape (..., S)
        Gradient with respect to ``scores``. Each row adds to zero: a score that rises takes
        its weight from the others.

    Raises
    ------
    ValueError
        If the two shapes differ.
    """
    require_shape("dweights", dweights, weights.shape)
    mean = np.sum(dweights * weights, axis=-1, keepdims=True)  # (..., 1)
    return weights * (dweights - mean)
