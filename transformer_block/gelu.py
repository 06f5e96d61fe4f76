"""The classic feed-forward net, two matrices with GELU between them, as GPT-2 has it."""

import math

import numpy as np

from transformer_block._require import require_axes, require_shape, require_weights
from transformer_block.linear import weight_gradient

SLOPE = math.sqrt(2 / math.pi)
CUBIC = 0.044715


def gelu(x):
    """Let large numbers through and damp negative ones: the tanh form of GELU.

    Parameters
    ----------
    x : ndarray of float, shape (...)
        Any real numbers.

    Returns
    -------
    out : ndarray, shape (...)
        ``x / 2 * (1 + tanh(sqrt(2 / π) * (x + 0.044715 * x³)))``, in the dtype of ``x``.

    Notes
    -----
    GELU proper is x times the normal distribution function; this form, which GPT-2 was trained
    with, is within 0.0005 of it. Source: Hendrycks & Gimpel 2016, Gaussian Error Linear Units.
    """
    return 0.5 * x * (1 + np.tanh(SLOPE * x * (1 + CUBIC * x * x)))


def gelu_derivative(x):
    """Give the slope of the tanh form of GELU.

    Parameters
    ----------
    x : ndarray of float, shape (...)
        Any real numbers.

    Returns
    -------
    slope : ndarray, shape (...)
        In the dtype of ``x``.
    """
    t = np.tanh(SLOPE * x * (1 + CUBIC * x * x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (SLOPE * (1 + 3 * CUBIC * x * x))


def gelu_net_forward(x, params):
    """Widen each row, apply GELU, and go back to the width of the stream: σ(x W₁) W₂.

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        One row for each token, treated by itself.
    params : dict
        ``W_1`` (d, h), ``W_2`` (h, d), in the dtype of ``x``; the classic width is h = 4d.

    Returns
    -------
    out : ndarray, shape (..., d)
        In the dtype of ``x``.
    cache : tuple
        ``(x, params, widened, hidden)``; the last two have shape (..., h), before and after
        GELU.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape.
    """
    require_axes("x", x, "d")
    require_weights(params, x.shape[-1], W_1=("d", "h"), W_2=("h", "d"))
    widened = x @ params["W_1"]  # (..., h)
    hidden = gelu(widened)
    return hidden @ params["W_2"], (x, params, widened, hidden)


def gelu_net_backward(dout, cache):
    """Send a gradient back through both matrices and the GELU between them.

    Parameters
    ----------
    dout : ndarray of float, shape (..., d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(x, params, widened, hidden)`` from `gelu_net_forward`.

    Returns
    -------
    dx : ndarray, shape (..., d)
        Gradient with respect to ``x``.
    grads : dict
        ``W_1``, ``W_2``: gradients of the weights, summed over all tokens.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    x, params, widened, hidden = cache
    require_shape("dout", dout, x.shape)
    dwidened = dout @ params["W_2"].T * gelu_derivative(widened)  # (..., h)
    grads = {"W_1": weight_gradient(x, dwidened), "W_2": weight_gradient(hidden, dout)}
    return dwidened @ params["W_1"].T, grads
