"""The two layouts of RoPE's pairs, as orders of the columns of W_q and W_k."""

from transformer_block._require import require_columns


def to_half_split(W, n_heads):
    """Reorder the columns of W_q or W_k from interleaved pairs to half-split ones.

    Parameters
    ----------
    W : ndarray of float, shape (d, H·K)
        Made for pairs (0, 1), (2, 3), … of each head.
    n_heads : int
        How many heads stand side by side in *this* matrix.

    Returns
    -------
    reordered : ndarray, shape (d, H·K)
        The same columns in an order made for pairs (0, K/2), (1, K/2 + 1), … of each head.

    Raises
    ------
    ValueError
        If the columns do not make ``n_heads`` heads of an even width.
    """
    require_columns(W, n_heads)
    pairs = W.reshape(len(W), n_heads, -1, 2)  # (d, H, K/2, 2)
    return pairs.swapaxes(-1, -2).reshape(W.shape)


def to_interleaved(W, n_heads):
    """Reorder the columns of W_q or W_k from half-split pairs to interleaved ones.

    Parameters
    ----------
    W : ndarray of float, shape (d, H·K)
        Made for pairs (0, K/2), (1, K/2 + 1), … of each head, as Hugging Face stores them.
    n_heads : int
        How many heads stand side by side in *this* matrix.

    Returns
    -------
    reordered : ndarray, shape (d, H·K)
        The same columns in an order made for pairs (0, 1), (2, 3), … of each head.

    Raises
    ------
    ValueError
        If the columns do not make ``n_heads`` heads of an even width.
    """
    require_columns(W, n_heads)
    halves = W.reshape(len(W), n_heads, 2, -1)  # (d, H, 2, K/2)
    return halves.swapaxes(-1, -2).reshape(W.shape)
