"""SwiGLU, equation (22.4): the gated feed-forward net and its activation."""

import numpy as np

from transformer_block._require import require_axes, require_shape, require_weights
from transformer_block.linear import weight_gradient


def sigmoid(x):
    """Squash every number into the range from 0 to 1: ``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : ndarray of float, shape (...)
        Any real numbers.

    Returns
    -------
    out : ndarray, shape (...)
        In the dtype of ``x``.
    """
    with np.errstate(over="ignore"):  # exp(1e4) is inf, and 1 / inf the 0 that is wanted
        return 1 / (1 + np.exp(-x))


def silu(x):
    """Let large numbers through and damp negative ones, smoothly: x times its sigmoid.

    Parameters
    ----------
    x : ndarray of float, shape (...)
        Any real numbers.

    Returns
    -------
    out : ndarray, shape (...)
        In the dtype of ``x``; never below -0.2785.
    """
    return x * sigmoid(x)


def silu_derivative(x):
    """Give the slope of SiLU, the factor that the way back through a gate needs.

    Parameters
    ----------
    x : ndarray of float, shape (...)
        Any real numbers.

    Returns
    -------
    slope : ndarray, shape (...)
        In the dtype of ``x``: 0 far to the left, 1/2 at zero, 1 far to the right.
    """
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def swiglu_forward(x, params):
    """Open each hidden feature by a gate, then go back to the width of the stream (22.4).

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        One row for each token, treated by itself.
    params : dict
        ``W_gate`` (d, h), ``W_up`` (d, h), ``W_down`` (h, d), in the dtype of ``x``.

    Returns
    -------
    out : ndarray, shape (..., d)
        ``(SiLU(x W_gate) ⊙ x W_up) W_down``, in the dtype of ``x``.
    cache : tuple
        ``(x, params, gate, up, hidden)``; the last three have shape (..., h), the gate before
        its SiLU.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape.

    Notes
    -----
    Source: Shazeer 2020, GLU Variants Improve Transformer.
    """
    require_axes("x", x, "d")
    require_weights(params, x.shape[-1], W_gate=("d", "h"), W_up=("d", "h"), W_down=("h", "d"))
    gate = x @ params["W_gate"]  # (..., h)
    up = x @ params["W_up"]  # (..., h)
    hidden = silu(gate) * up
    out = hidden @ params["W_down"]  # (..., d)
    return out, (x, params, gate, up, hidden)


def swiglu_backward(dout, cache):
    """Send a gradient back through the product of gate and up.

    Parameters
    ----------
    dout : ndarray of float, shape (..., d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(x, params, gate, up, hidden)`` from `swiglu_forward`.

    Returns
    -------
    dx : ndarray, shape (..., d)
        Gradient with respect to ``x``.
    grads : dict
        ``W_gate``, ``W_up``, ``W_down``: gradients of the weights, summed over all tokens.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    x, params, gate, up, hidden = cache
    require_shape("dout", dout, x.shape)
    dhidden = dout @ params["W_down"].T  # (..., h)
    dup = dhidden * silu(gate)
    dgate = dhidden * up * silu_derivative(gate)
    dx = dgate @ params["W_gate"].T + dup @ params["W_up"].T  # (..., d)
    grads = {
        "W_gate": weight_gradient(x, dgate),
        "W_up": weight_gradient(x, dup),
        "W_down": weight_gradient(hidden, dout),
    }
    return dx, grads
