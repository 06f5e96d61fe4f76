"""Loss and gradients of the whole decoder with the faster block: what training calls."""

from transformer_block.embedding import (
    embedding_backward,
    embedding_forward,
    logits_backward,
    logits_forward,
)
from transformer_block.fast import fast_block_backward, fast_block_forward
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def fast_loss_and_gradients(ids, targets, params, n_heads, weights=None):
    """Give what `loss_and_gradients` gives for tied weights, in less time.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    targets : ndarray of int, shape (..., T)
        The id that comes next at every position.
    params : dict
        As in `decoder_forward`, without a ``head``, all in one dtype.
    n_heads : int
        H, the number of query heads of every block.
    weights : ndarray of float, shape (..., T), optional
        How much each position counts, as in `cross_entropy_forward`.

    Returns
    -------
    loss : float
        Cross-entropy in nats, the (weighted) mean over all positions.
    grads : dict
        Its gradients, in the places of ``params``.

    Raises
    ------
    ValueError
        As in `loss_and_gradients`, and if the weights are untied.
    """
    if "head" in params:
        raise ValueError("the fast decoder has tied weights: got a head in params")
    x, lookup = embedding_forward(ids, params["embedding"])  # (..., T, d)
    caches = []
    for block in params["blocks"]:
        x, cache = fast_block_forward(x, block, n_heads)
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    logits, head = logits_forward(out, params["embedding"])  # (..., T, V)
    loss, loss_cache = cross_entropy_forward(logits, targets, weights)
    dout, dhead = logits_backward(cross_entropy_backward(1.0, loss_cache), head)
    dx, dfinal_norm = rmsnorm_backward(dout, norm)
    dblocks = []
    for cache in reversed(caches):
        dx, dblock = fast_block_backward(dx, cache)
        dblocks.append(dblock)
    dembedding = dhead + embedding_backward(dx, lookup)  # (V, d)
    return loss, {"embedding": dembedding, "blocks": dblocks[::-1], "final_norm": dfinal_norm}
