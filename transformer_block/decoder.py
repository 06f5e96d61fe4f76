"""The whole decoder: embedding, L blocks, final norm, logits (22.5); forward and backward."""

from transformer_block._require import require_context
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.embedding import (
    embedding_backward,
    embedding_forward,
    logits_backward,
    logits_forward,
)
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def decoder_forward(ids, params, n_heads, rope_base=10_000.0, eps=1e-5, context=None):
    """Run token ids through the stack to the scores of each position's next token (22.5).

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    params : dict
        ``embedding`` (V, d), ``blocks``, a list of L dicts as `transformer_block_forward` takes
        them, and ``final_norm`` (d,). With ``head`` (V, d) the weights are untied; without it
        the embedding serves both ends.
    n_heads : int
        H, the number of query heads of every block.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.
    context : int, optional
        The largest T that the model was made for; ``None`` sets no limit.

    Returns
    -------
    logits : ndarray, shape (..., T, V)
        In the dtype of the embedding.
    cache : tuple
        ``(lookup, blocks, norm, logits, tied)``: the cache of each step, a list of L of them
        for the blocks, and whether the embedding made the logits.

    Raises
    ------
    ValueError
        If an id lies outside the vocabulary, T exceeds ``context``, or a weight is missing or
        has the wrong shape.
    """
    require_context(ids.shape[-1], context)
    x, lookup = embedding_forward(ids, params["embedding"])  # (..., T, d)
    blocks = []
    for block in params["blocks"]:
        x, cache = transformer_block_forward(x, block, n_heads, rope_base, eps=eps)
        blocks.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"], eps)
    tied = "head" not in params
    logits, head = logits_forward(out, params["embedding" if tied else "head"])  # (..., T, V)
    return logits, (lookup, blocks, norm, head, tied)


def decoder_backward(dlogits, cache):
    """Send a gradient from the logits down the whole stack, to every parameter.

    Parameters
    ----------
    dlogits : ndarray of float, shape (..., T, V)
        Gradient of the loss with respect to the logits.
    cache : tuple
        ``(lookup, blocks, norm, logits, tied)`` from `decoder_forward`.

    Returns
    -------
    grads : dict
        Gradients in the places of ``params``. A tied embedding gets the sum of two: a dense one
        from the logits, and a sparse one from the rows that were looked up.

    Raises
    ------
    ValueError
        If ``dlogits`` does not have the shape of the logits.
    """
    lookup, blocks, norm, head, tied = cache
    dout, dhead = logits_backward(dlogits, head)  # (..., T, d)
    dx, dfinal_norm = rmsnorm_backward(dout, norm)
    dblocks = []
    for block in reversed(blocks):
        dx, dblock = transformer_block_backward(dx, block)
        dblocks.append(dblock)
    dembedding = embedding_backward(dx, lookup)  # (V, d)
    grads = {"blocks": dblocks[::-1], "final_norm": dfinal_norm}
    if tied:
        return {"embedding": dembedding + dhead, **grads}
    return {"embedding": dembedding, **grads, "head": dhead}


def loss_and_gradients(ids, targets, params, n_heads, rope_base=10_000.0, eps=1e-5, weights=None):
    """Compare every position with its next token, and send the gradient all the way back.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    targets : ndarray of int, shape (..., T)
        The id that comes next at every position: of a text, ``text[1:]`` for ``text[:-1]``.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.
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
        As in `decoder_forward` and `cross_entropy_forward`.
    """
    logits, cache = decoder_forward(ids, params, n_heads, rope_base, eps)
    loss, loss_cache = cross_entropy_forward(logits, targets, weights)
    return loss, decoder_backward(cross_entropy_backward(1.0, loss_cache), cache)
