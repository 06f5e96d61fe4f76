"""Both ends of the decoder: token ids to rows of E, and the stream to logits, equation (22.5)."""

import numpy as np

from transformer_block._require import require_ids, require_shape
from transformer_block.linear import weight_gradient


def embedding_forward(ids, weight):
    """Look up one row of the embedding matrix for every token id.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    weight : ndarray of float, shape (V, d)
        The embedding matrix E, one row per token of the vocabulary.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The rows, in the dtype of ``weight``.
    cache : tuple
        ``(ids, weight)``.

    Raises
    ------
    ValueError
        If an id is no integer or lies outside the vocabulary.
    """
    require_ids("ids", ids, weight.shape[0])
    return weight[ids], (ids, weight)  # (..., T, d)


def embedding_backward(dout, cache):
    """Add the gradient of every position to the row that it looked up.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to the rows.
    cache : tuple
        ``(ids, weight)`` from `embedding_forward`.

    Returns
    -------
    dweight : ndarray, shape (V, d)
        Gradient with respect to E, in its dtype: zero in every row whose id did not occur.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of the rows.
    """
    ids, weight = cache
    require_shape("dout", dout, (*np.shape(ids), weight.shape[1]))
    dweight = np.zeros_like(weight)
    np.add.at(dweight, ids, dout)  # += would lose ids that come again
    return dweight


def logits_forward(x, weight):
    """Compare every position with every row of the output matrix (22.5).

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The stream after the final norm.
    weight : ndarray of float, shape (V, d)
        E itself when the weights are tied, else a matrix of the same shape.

    Returns
    -------
    logits : ndarray, shape (..., T, V)
        One inner product per token of the vocabulary, in the dtype of ``x``.
    cache : tuple
        ``(x, weight)``.

    Raises
    ------
    ValueError
        If ``weight`` does not have the width of ``x``.
    """
    require_shape("weight", weight, (weight.shape[0], x.shape[-1]))
    return (x @ weight.T).astype(x.dtype, copy=False), (x, weight)  # (..., T, V)


def logits_backward(dlogits, cache):
    """Send a gradient back to the stream and to every row of the output matrix.

    Parameters
    ----------
    dlogits : ndarray of float, shape (..., T, V)
        Gradient of the loss with respect to the logits.
    cache : tuple
        ``(x, weight)`` from `logits_forward`.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``, in its dtype.
    dweight : ndarray, shape (V, d)
        Gradient with respect to the matrix, in its dtype: dense, since every token had a logit.

    Raises
    ------
    ValueError
        If ``dlogits`` does not have the shape of the logits.
    """
    x, weight = cache
    require_shape("dlogits", dlogits, (*x.shape[:-1], weight.shape[0]))
    dx = dlogits @ weight  # (..., T, d)
    dweight = weight_gradient(dlogits, x)  # (V, d)
    return dx.astype(x.dtype, copy=False), dweight.astype(weight.dtype, copy=False)
