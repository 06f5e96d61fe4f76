"""A trained model with one thing wrong: what each mistake of practice does to it, in numbers."""

import json
from pathlib import Path

import numpy as np

from transformer_block._files import read_npz
from transformer_block._trees import flatten, unflatten
from transformer_block.block import transformer_block_forward
from transformer_block.contrasts import contrast_block_forward
from transformer_block.embedding import embedding_forward
from transformer_block.layouts import to_half_split
from transformer_block.loss import log_softmax
from transformer_block.traces import logit_lens

FOLDER = Path(__file__).parent / "data"
TEXT = (
    "In the morning the fog lay over the river, and nobody could see the other bank. The ferryman "
    "waited. He had learned as a boy that a river does not like to be hurried, and that a man who "
    "cannot wait should not build a boat. When the sun came through at last, the first passengers "
    "were already standing on the pier."
)


def stack_logits(ids, params, block_forward, eps=1e-5):
    """Run a stack whose blocks are computed by a function of yours.

    Parameters
    ----------
    ids : ndarray of int, shape (T,)
        Token ids.
    params : dict
        As in `decoder_forward`.
    block_forward : callable
        ``block_forward(x, block, number)`` returns the stream after the block of this number.
    eps : float
        Of the final norm.

    Returns
    -------
    logits : ndarray, shape (T, V)
        In the dtype of the embedding.
    """
    x, _ = embedding_forward(ids, params["embedding"])
    for number, block in enumerate(params["blocks"]):
        x = block_forward(x, block, number)
    return logit_lens(x, params, eps)


def next_token_losses(ids, logits):
    """Say how much each next token of a text surprised the model.

    Parameters
    ----------
    ids : ndarray of int, shape (T,)
        The text.
    logits : ndarray of float, shape (T, V)
        The model's, at every position of the text.

    Returns
    -------
    losses : ndarray
        For each of T - 1 positions minus the logarithm of the next token's probability, in nats.
    """
    return -log_softmax(logits[:-1])[np.arange(len(ids) - 1), ids[1:]]


def gain_names(params):
    """List all norms of a model in the order in which the stream meets them.

    Parameters
    ----------
    params : dict
        As in `decoder_forward`.

    Returns
    -------
    names : list of str
        ``blocks.0.attn_norm``, ``blocks.0.ffn_norm``, …, ``final_norm``.
    """
    halves = ("attn_norm", "ffn_norm")
    numbers = range(len(params["blocks"]))
    return [f"blocks.{k}.{half}" for k in numbers for half in halves] + ["final_norm"]


def forget_gains(params, names):
    """Export a model as a faulty script would: gains that it forgets come out as ones.

    Parameters
    ----------
    params : dict
        As in `decoder_forward`.
    names : list of str
        Some of `gain_names`.

    Returns
    -------
    faulty : dict
        All other arrays are those of ``params``, not copies.

    Raises
    ------
    ValueError
        If the model has no norm of such a name.
    """
    flat = flatten(params)
    for name in names:
        if name not in gain_names(params):
            raise ValueError(f"names must be among gain_names(params): got {name!r}")
    return unflatten({**flat, **{name: np.ones_like(flat[name]) for name in names}})


def left_half_split(params, head_dim):
    """Load a checkpoint as somebody would who has not heard of its layout: nothing is reordered.

    Parameters
    ----------
    params : dict
        As in `decoder_forward`, right for the interleaved RoPE of this library.
    head_dim : int
        K, the width of a head.

    Returns
    -------
    wrong : dict
        The same weights with the columns of every W_q and W_k in half-split order.
    """

    def reordered(block):
        names = ("W_q", "W_k")
        return {n: to_half_split(block[n], block[n].shape[1] // head_dim) for n in names}

    return {**params, "blocks": [{**b, **reordered(b)} for b in params["blocks"]]}


def tiled_heads(block, head_dim):
    """Hand the key/value heads round in turn, 0, 1, 2, 0, 1, 2, …, where 0, 0, 0, 1, … is meant.

    Parameters
    ----------
    block : dict
        The weights of one block.
    head_dim : int
        K, the width of a head.

    Returns
    -------
    wrong : dict
        The same block with as many key/value heads as query heads, in the wrong order.
    """
    times = block["W_q"].shape[1] // block["W_k"].shape[1]
    return {**block, **{name: np.tile(block[name], (1, times)) for name in ("W_k", "W_v")}}


def block_variants(settings, head_dim):
    """Give ways to compute a block of a trained Llama that are each wrong in one thing.

    Parameters
    ----------
    settings : dict
        ``n_heads``, ``rope_base`` and ``eps`` of the model.
    head_dim : int
        K, the width of a head.

    Returns
    -------
    variants : dict
        Name to ``block_forward`` as `stack_logits` takes it. ``right`` has nothing wrong.
    """

    def contrast(**choice):
        def forward(x, block, number):
            zeros = dict.fromkeys(("attn_norm_bias", "ffn_norm_bias"), np.zeros_like(x[0]))
            return contrast_block_forward(x, {**block, **zeros}, **settings, **choice)[0]

        return forward

    def gelu_net(name):
        net = contrast(net="gelu")
        return lambda x, b, number: net(x, {**b, "W_1": b[name], "W_2": b["W_down"]}, number)

    def right(x, block, number):
        return transformer_block_forward(x, block, **settings)[0]

    def without_rope(x, block, number):
        still = np.zeros(x.shape[-2], dtype=int)
        return transformer_block_forward(x, block, **settings, positions=still)[0]

    return {
        "right": right,
        "LayerNorm": contrast(norm="layer"),
        "no RoPE": without_rope,
        "heads tiled": lambda x, b, number: right(x, tiled_heads(b, head_dim), number),
        "GELU net of W_up": gelu_net("W_up"),
        "GELU net of W_gate": gelu_net("W_gate"),
        "no residuals": contrast(order="none"),
    }


def without_adds_of(number, settings):
    """Give a way to compute the blocks in which one of them has lost both its adds.

    Parameters
    ----------
    number : int
        Which block.
    settings : dict
        ``n_heads``, ``rope_base`` and ``eps`` of the model.

    Returns
    -------
    block_forward : callable
        As `stack_logits` takes it.
    """

    def forward(x, block, here):
        order = "none" if here == number else "pre"
        return contrast_block_forward(x, block, **settings, order=order)[0]

    return forward


def load_results():
    """Read what ``python -m transformer_block.make_practice`` has stored.

    Returns
    -------
    results : dict
        The numbers and texts of `transformer_block.make_practice.practice_results`.
    """
    return json.loads((FOLDER / "practice.json").read_text("utf-8"))


def load_excerpt():
    """Read a piece of the real model: one group of heads of its first block.

    Returns
    -------
    excerpt : dict
        ``x`` (T, d), the embedded tokens of "The capital of France is"; ``attn_norm`` (d,); and
        as Hugging Face stores them, one row for each feature and pairs half-split,
        ``q_proj`` (3·K, d) and ``k_proj`` (K, d). All in float32, rounded to float16.
    """
    remedy = "python -m transformer_block.make_practice makes it again"
    arrays = read_npz(FOLDER / "excerpt.npz", remedy)
    return {name: array.astype(np.float32) for name, array in arrays.items()}
