"""Softmax cross-entropy of every position against its next token."""

import numpy as np

from transformer_block._require import require_ids, require_shape


def log_softmax(logits):
    """Turn logits into log-probabilities without overflow.

    Parameters
    ----------
    logits : ndarray of float, shape (..., V)
        Scores of any size.

    Returns
    -------
    log_probabilities : ndarray, shape (..., V)
        Their exponentials sum to one along the last axis; in the dtype of ``logits``.

    Notes
    -----
    The largest logit is subtracted first: no exponential is above 1, and their sum is at least
    1, so neither the exponential nor the logarithm leaves the range of the dtype.
    """
    wide = logits.astype(np.result_type(logits, np.float32), copy=False)
    shifted = wide - np.max(wide, axis=-1, keepdims=True)
    total = np.sum(np.exp(shifted), axis=-1, keepdims=True)  # (..., 1)
    return (shifted - np.log(total)).astype(logits.dtype, copy=False)


def cross_entropy_forward(logits, targets, weights=None):
    """Average −log p(target) over all positions.

    Parameters
    ----------
    logits : ndarray of float, shape (..., T, V)
        Scores of each position for its next token.
    targets : ndarray of int, shape (..., T)
        The token that did come next, from 0 to V - 1.
    weights : ndarray of float, shape (..., T), optional
        How much each position counts in the average, zero or more; ``None`` lets all count
        alike.

    Returns
    -------
    loss : float
        In nats. A model that knows nothing has ln V.
    cache : tuple
        ``(log_probabilities, targets, shares)``: ``shares`` (..., T) are the weights, made to
        sum to one.

    Raises
    ------
    ValueError
        If the targets are no ids of the vocabulary, there is not one target and one weight for
        each position, or the weights have no positive sum.
    """
    require_shape("targets", targets, logits.shape[:-1])
    require_ids("targets", targets, logits.shape[-1])
    weights = np.ones(targets.shape) if weights is None else weights
    require_shape("weights", weights, targets.shape)
    total = np.sum(weights, dtype=np.float64)
    if not total > 0:
        raise ValueError(f"weights must have a positive sum: got {total}")
    shares = weights / total
    log_probabilities = log_softmax(logits)
    picked = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)  # (..., T, 1)
    return float(-np.sum(shares * picked[..., 0])), (log_probabilities, targets, shares)


def cross_entropy_backward(dloss, cache):
    """Give each position p − one-hot target, times its share in the average.

    Parameters
    ----------
    dloss : float
        Gradient of what is minimised with respect to the loss: 1.0 if it is the loss itself.
    cache : tuple
        ``(log_probabilities, targets, shares)`` from `cross_entropy_forward`.

    Returns
    -------
    dlogits : ndarray, shape (..., T, V)
        Gradient with respect to the logits, in their dtype; each row sums to zero.
    """
    log_probabilities, targets, shares = cache
    dlogits = np.exp(log_probabilities)
    at_target = targets[..., None]
    p = np.take_along_axis(dlogits, at_target, axis=-1)  # (..., T, 1)
    np.put_along_axis(dlogits, at_target, p - 1.0, axis=-1)
    return (dlogits * (dloss * shares[..., None])).astype(dlogits.dtype, copy=False)
