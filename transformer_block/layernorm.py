"""LayerNorm, the norm that RMSNorm simplifies: centre each row first, then scale it."""

import numpy as np

from transformer_block._require import require_eps, require_shape, require_width


def layernorm_forward(x, weight, bias, eps=1e-5):
    """Centre each row, divide by its standard deviation, then apply gain and bias.

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        One row of width d per token; any number of leading axes.
    weight : ndarray of float, shape (d,)
        The gain, one number per feature.
    bias : ndarray of float, shape (d,)
        Added after the gain.
    eps : float
        Added to the variance, inside the root; zero or more.

    Returns
    -------
    out : ndarray, shape (..., d)
        The normalised rows times the gain plus the bias, in the dtype of ``x``.
    cache : tuple
        ``(weight, bias, inv_std, normalized)``; ``inv_std`` has shape (..., 1).

    Raises
    ------
    ValueError
        If ``weight`` or ``bias`` does not have the width of ``x``, or ``eps`` is negative.

    Notes
    -----
    The variance is the mean of the squared deviations: divided by d, not by d - 1.
    Source: Ba, Kiros & Hinton 2016, Layer Normalization.
    """
    require_width(x, weight=weight, bias=bias)
    require_eps(eps)
    wide = x.astype(np.result_type(x, np.float32), copy=False)
    centred = wide - np.mean(wide, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)  # (..., 1)
    inv_std = 1.0 / np.sqrt(variance + eps)
    normalized = (centred * inv_std).astype(x.dtype, copy=False)  # (..., d)
    out = (normalized * weight + bias).astype(x.dtype, copy=False)
    return out, (weight, bias, inv_std, normalized)


def layernorm_backward(dout, cache):
    """Send a gradient back through bias, gain, scale and centring.

    Parameters
    ----------
    dout : ndarray of float, shape (..., d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(weight, bias, inv_std, normalized)`` from `layernorm_forward`.

    Returns
    -------
    dx : ndarray, shape (..., d)
        Gradient with respect to ``x``, in its dtype.
    dweight : ndarray, shape (d,)
        Gradient with respect to the gain, summed over all leading axes, in its dtype.
    dbias : ndarray, shape (d,)
        Gradient with respect to the bias, summed over all leading axes, in its dtype.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    weight, bias, inv_std, normalized = cache
    require_shape("dout", dout, normalized.shape)
    leading = tuple(range(normalized.ndim - 1))
    dnormalized = (dout * weight).astype(inv_std.dtype, copy=False)  # wide
    along = np.mean(dnormalized * normalized, axis=-1, keepdims=True)  # (..., 1)
    centre = np.mean(dnormalized, axis=-1, keepdims=True)  # (..., 1)
    dx = inv_std * (dnormalized - centre - normalized * along)
    dweight = np.sum(dout * normalized, axis=leading, dtype=inv_std.dtype)  # (d,)
    dbias = np.sum(dout, axis=leading, dtype=inv_std.dtype)  # (d,)
    return (
        dx.astype(normalized.dtype, copy=False),
        dweight.astype(weight.dtype, copy=False),
        dbias.astype(bias.dtype, copy=False),
    )
