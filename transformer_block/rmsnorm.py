"""RMSNorm, equation (22.2), and its backward pass, equation (22.3)."""

import numpy as np

from transformer_block._require import require_eps, require_shape, require_width


def rmsnorm_forward(x, weight, eps=1e-5):
    """Divide each row by its root mean square, then multiply by the gain (22.2).

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        One row of width d per token; any number of leading axes.
    weight : ndarray of float, shape (d,)
        The gain g, one number per feature.
    eps : float
        Added to the mean square, inside the root; zero or more.

    Returns
    -------
    out : ndarray, shape (..., d)
        The normalised rows times the gain, in the dtype of ``x``.
    cache : tuple
        ``(x, weight, inv_rms, normalized)``, what the backward pass needs;
        ``inv_rms`` has shape (..., 1).

    Raises
    ------
    ValueError
        If ``weight`` does not have the width of ``x``, or ``eps`` is negative.

    Notes
    -----
    Squares are taken in float32 or wider: in float16, 256² is infinite and 1e-4² is zero.
    Source: Zhang & Sennrich 2019, Root Mean Square Layer Normalization.
    """
    require_width(x, weight=weight)
    require_eps(eps)
    wide = x.astype(np.result_type(x, np.float32), copy=False)
    mean_square = np.mean(wide * wide, axis=-1, keepdims=True)  # (..., 1)
    inv_rms = 1.0 / np.sqrt(mean_square + eps)
    normalized = (wide * inv_rms).astype(x.dtype, copy=False)  # (..., d)
    out = (normalized * weight).astype(x.dtype, copy=False)
    return out, (x, weight, inv_rms, normalized)


def rmsnorm_backward(dout, cache):
    """Send a gradient back through the gain and the normalisation (22.3).

    Parameters
    ----------
    dout : ndarray of float, shape (..., d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(x, weight, inv_rms, normalized)`` from `rmsnorm_forward`.

    Returns
    -------
    dx : ndarray, shape (..., d)
        Gradient with respect to ``x``, in its dtype.
    dweight : ndarray, shape (d,)
        Gradient with respect to the gain, summed over all leading axes, in its dtype.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    x, weight, inv_rms, normalized = cache
    require_shape("dout", dout, x.shape)
    d = x.shape[-1]
    dnormalized = (dout * weight).astype(inv_rms.dtype, copy=False)  # wide
    c = np.sum(dnormalized * x, axis=-1, keepdims=True)  # (..., 1)
    dx = inv_rms * dnormalized - x * inv_rms**3 * c / d
    dweight = np.sum(dout * normalized, axis=tuple(range(x.ndim - 1)), dtype=c.dtype)  # (d,)
    return dx.astype(x.dtype, copy=False), dweight.astype(weight.dtype, copy=False)
