"""The gradient of a weight matrix that every token shares."""


def weight_gradient(x, dout):
    """Give the gradient of W for ``out = x @ W``, summed over all tokens.

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        What went into the matrix.
    dout : ndarray of float, shape (..., h)
        Gradient of the loss with respect to ``out``.

    Returns
    -------
    dW : ndarray, shape (d, h)
        One outer product of input and gradient a token, added up by a single matrix product.
    """
    return x.reshape(-1, x.shape[-1]).T @ dout.reshape(-1, dout.shape[-1])
