"""Deep stacks with another order of norm and residual: drawn, differentiated and trained."""

import numpy as np

from transformer_block.config import llama_config
from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.embedding import (
    embedding_backward,
    embedding_forward,
    logits_backward,
    logits_forward,
)
from transformer_block.initialise import initialise_decoder
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward
from transformer_block.optimizer import adamw_start, adamw_update, clip_gradients
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def draw_stack(rng, n_layers, d=16, h=40, V=13, scaled_writers=False):
    """Draw a decoder whose matrices pass sizes on: entries of standard deviation 1/√d.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the matrices.
    n_layers : int
        L, the number of blocks, of four heads each.
    d : int
        Width of the stream.
    h : int
        Width of the feed-forward net.
    V : int
        Size of the vocabulary.
    scaled_writers : bool
        Whether ``W_o`` and ``W_down`` are divided by √(2L), as `initialise_decoder` does.

    Returns
    -------
    params : dict
        As `decoder_forward` takes them, in float32, the weights tied.
    """
    config = llama_config(d=d, n_layers=n_layers, n_heads=4, n_kv_heads=4, h=h, V=V)
    params = initialise_decoder(config, rng, std=d**-0.5)
    if not scaled_writers:
        for block in params["blocks"]:
            for name in ("W_o", "W_down"):
                block[name] = block[name] * np.float32(2 * n_layers) ** 0.5
    return params


def stack_loss_and_gradients(ids, targets, params, n_heads, order="pre"):
    """Do what `loss_and_gradients` does, for a stack with another order of norm and residual.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    targets : ndarray of int, shape (..., T)
        The id that comes next at every position.
    params : dict
        As in `decoder_forward`, the weights tied.
    n_heads : int
        H, the number of query heads of every block.
    order : str
        ``"pre"``, ``"post"`` or ``"none"``, as in `contrast_block_forward`.

    Returns
    -------
    loss : float
        Cross-entropy in nats, the mean over all positions.
    grads : dict
        Its gradients, in the places of ``params``.
    """
    x, lookup = embedding_forward(ids, params["embedding"])  # (..., T, d)
    caches = []
    for block in params["blocks"]:
        x, cache = contrast_block_forward(x, block, n_heads, order=order)
        caches.append(cache)
    out, norm = rmsnorm_forward(x, params["final_norm"])
    logits, head = logits_forward(out, params["embedding"])  # (..., T, V)
    loss, loss_cache = cross_entropy_forward(logits, targets)

    dout, dhead = logits_backward(cross_entropy_backward(1.0, loss_cache), head)
    dx, dfinal_norm = rmsnorm_backward(dout, norm)
    dblocks = []
    for cache in reversed(caches):
        dx, dblock = contrast_block_backward(dx, cache)
        dblocks.append(dblock)
    dembedding = embedding_backward(dx, lookup) + dhead
    return loss, {"embedding": dembedding, "blocks": dblocks[::-1], "final_norm": dfinal_norm}


def train_on_a_cycle(n_layers, order, n_steps=30, rate=3e-3, scaled_writers=False, seed=0):
    """Train a stack on the easiest task there is: each token has one token that follows it.

    Parameters
    ----------
    n_layers : int
        L, the number of blocks.
    order : str
        ``"pre"``, ``"post"`` or ``"none"``, as in `contrast_block_forward`.
    n_steps : int
        Steps of AdamW, gradients clipped to length 1, eight sequences of eight tokens each.
    rate : float
        The learning rate.
    scaled_writers : bool
        As in `draw_stack`.
    seed : int
        Of the generator that draws the stack, the task and the sequences.

    Returns
    -------
    losses : ndarray of float
        The loss before each step, in nats; who guesses has ln 13 = 2.565.
    """
    rng = np.random.default_rng(seed)
    params = draw_stack(rng, n_layers, scaled_writers=scaled_writers)
    V = len(params["embedding"])
    cycle, state, losses = rng.permutation(V), adamw_start(params), []
    for _ in range(n_steps):
        text = cycle[(rng.integers(V, size=(8, 1)) + np.arange(9)) % V]  # (B, T + 1)
        loss, grads = stack_loss_and_gradients(text[:, :-1], text[:, 1:], params, 4, order)
        losses.append(loss)
        grads, _ = clip_gradients(grads, 1.0)
        params, state = adamw_update(params, grads, state, rate)
    return np.array(losses)
