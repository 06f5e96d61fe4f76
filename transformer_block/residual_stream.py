"""The residual stream: one update of it (22.1), who wrote what, and the gradient by depth."""

import numpy as np

from transformer_block._require import require_axes, require_shape, require_width
from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def pre_norm_update(x, sublayer, weight, eps=1e-5):
    """Add to the stream what a sublayer makes of its normalised rows (22.1).

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream: one row for each token.
    sublayer : callable
        Takes an array of the shape of ``x`` and returns one: attention, a feed-forward net.
    weight : ndarray of float, shape (d,)
        The gain of the norm.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream after the update.

    Raises
    ------
    ValueError
        If ``weight`` does not have the width of ``x``, or what the sublayer writes not its shape.
    """
    normed, _ = rmsnorm_forward(x, weight, eps)
    written = sublayer(normed)
    require_shape("what the sublayer writes", written, x.shape)
    return x + written


def post_norm_update(x, sublayer, weight, eps=1e-5):
    """Normalise the sum of the stream and what a sublayer writes, as in 2017.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The residual stream: one row for each token.
    sublayer : callable
        Takes an array of the shape of ``x`` and returns one.
    weight : ndarray of float, shape (d,)
        The gain of the norm.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream after the update.

    Raises
    ------
    ValueError
        If ``weight`` does not have the width of ``x``, or what the sublayer writes not its shape.

    Notes
    -----
    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.1; there the norm is
    LayerNorm.
    """
    written = sublayer(x)
    require_shape("what the sublayer writes", written, x.shape)
    out, _ = rmsnorm_forward(x + written, weight, eps)
    return out


def pre_norm_update_backward(dout, x, sublayer_backward, weight, eps=1e-5):
    """Send a gradient back on two paths: straight, and through the branch (22.1).

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to the stream after the update.
    x : ndarray of float, shape (..., T, d)
        The stream before the update.
    sublayer_backward : callable
        Takes the gradient of what the sublayer wrote, returns the gradient of what it read.
    weight : ndarray of float, shape (d,)
        The gain of the norm.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``.
    dweight : ndarray, shape (d,)
        Gradient with respect to the gain.

    Raises
    ------
    ValueError
        If ``weight`` does not have the width of ``x``, or ``dout`` not its shape.
    """
    require_shape("dout", dout, x.shape)
    _, norm = rmsnorm_forward(x, weight, eps)
    dnormed = sublayer_backward(dout)
    dbranch, dweight = rmsnorm_backward(dnormed, norm)
    # The add hands dout to both its terms: the stream and the branch.
    return dout + dbranch, dweight


def stream_ledger(x, sublayers, weights, eps=1e-5):
    """Run one update after the other and keep what each of them wrote.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The stream at the start: the embedding.
    sublayers : list of callable
        N sublayers, in the order in which they write.
    weights : ndarray of float, shape (N, d)
        The gain of the norm before each of them.
    eps : float
        As in `rmsnorm_forward`, for every norm.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        The stream at the end: ``x`` plus all writes.
    writes : ndarray, shape (N, ..., T, d)
        What was added, in order.

    Raises
    ------
    ValueError
        If there is not one gain of the width of ``x`` for every sublayer, or a write has
        another shape than ``x``.
    """
    require_axes("x", x, "T", "d")
    require_shape("weights", weights, (len(sublayers), x.shape[-1]))
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        normed, _ = rmsnorm_forward(x, weight, eps)
        writes.append(sublayer(normed))
        require_shape("what a sublayer writes", writes[-1], x.shape)
        x = x + writes[-1]
    return x, np.stack(writes)


def logit_shares(parts, weight, direction, eps=1e-5):
    """Split a token's logit into the share of every part of the stream.

    Parameters
    ----------
    parts : ndarray of float, shape (N, ..., d)
        What adds up to the stream at the end: the embedding and the writes.
    weight : ndarray of float, shape (d,)
        The gain of the final norm.
    direction : ndarray of float, shape (d,)
        The token's row of the matrix that makes the logits.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    shares : ndarray, shape (N, ...)
        One number for each part. They add up to the logit.

    Raises
    ------
    ValueError
        If ``weight`` or ``direction`` does not have the width of the parts.
    """
    require_width(parts, weight=weight, direction=direction)
    stream = np.sum(parts, axis=0)  # (..., d)
    # One scale for all parts, that of the whole: else the shares would not add up.
    _, (_, _, inv_rms, _) = rmsnorm_forward(stream, weight, eps)
    return (parts * inv_rms) @ (weight * direction)  # (N, ...)


def gradient_by_depth(x, blocks, dout, n_heads, order="pre"):
    """Measure how large a gradient is after each block on its way down the stack.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        The stream at the start.
    blocks : list of dict
        L blocks, as `transformer_block_forward` takes them.
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to the stream at the end.
    n_heads : int
        H, the number of query heads of every block.
    order : str
        ``"pre"``, ``"post"`` or ``"none"``, as in `contrast_block_forward`.

    Returns
    -------
    sizes : ndarray of float
        L + 1 numbers: the RMS of the gradient with respect to the stream before each block, and
        last the RMS of ``dout``.

    Raises
    ------
    ValueError
        If ``order`` is unknown, or a weight is missing or has the wrong shape.
    """
    caches = []
    for block in blocks:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    gradients = [dout]
    for cache in reversed(caches):
        gradients.append(contrast_block_backward(gradients[-1], cache)[0])
    return np.array([np.sqrt(np.mean(g * g)) for g in reversed(gradients)])
