"""What a run of the stack leaves to look at, as plain arrays, and a small way to keep it."""

import numpy as np

from transformer_block._files import read_npz
from transformer_block.attention import causal_self_attention_forward
from transformer_block.embedding import embedding_forward, logits_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.softmax import softmax
from transformer_block.swiglu import silu, swiglu_forward

LARGEST_HALF = 2.0**15  # what a stored float16 may reach; its range ends just below 2**16


def trace_decoder(ids, params, n_heads, rope_base=10_000.0, eps=1e-5):
    """Run the stack and keep the stream, every write and what happened inside the sublayers.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Token ids, each from 0 to V - 1.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.

    Returns
    -------
    trace : dict
        ``ids`` (..., T); ``stream`` (2L + 1, ..., T, d), after the embedding and after each half
        of each block; ``writes`` (2L, ..., T, d), what attention and net added in turn, so that
        ``stream[i + 1] = stream[i] + writes[i]``; ``attention`` (L, ..., H, T, T), the weights;
        ``gate``, ``open``, ``up`` and ``hidden`` (L, ..., T, h), the gate before and after its
        SiLU, and the product of open gate and up.

    Raises
    ------
    ValueError
        As in `decoder_forward`.
    """
    x, _ = embedding_forward(ids, params["embedding"])  # (..., T, d)
    stream, writes, inside = [x], [], []
    for block in params["blocks"]:
        normed, _ = rmsnorm_forward(stream[-1], block["attn_norm"], eps)
        attended, attn = causal_self_attention_forward(normed, block, n_heads, rope_base)
        residual = stream[-1] + attended
        normed, _ = rmsnorm_forward(residual, block["ffn_norm"], eps)
        fed, (_, _, gate, up, hidden) = swiglu_forward(normed, block)
        stream += [residual, residual + fed]
        writes += [attended, fed]
        weights = attn[3][3]  # (..., H, T, T)
        inside.append(
            {"attention": weights, "gate": gate, "open": silu(gate), "up": up, "hidden": hidden}
        )
    arrays = {name: np.stack([one[name] for one in inside]) for name in inside[0]}
    return {"ids": ids, "stream": np.stack(stream), "writes": np.stack(writes), **arrays}


def without_write(params, i):
    """Silence one sublayer: its output matrix becomes zero, and the stream passes it by.

    Parameters
    ----------
    params : dict
        As in `decoder_forward`.
    i : int
        Which of the ``writes`` of `trace_decoder` to leave out, from 0 to 2L - 1: attention of
        block i / 2 if i is even, the net of block (i - 1) / 2 if it is odd.

    Returns
    -------
    params : dict
        A model without this write, that shares all other arrays with the first.

    Raises
    ------
    ValueError
        If there is no such write.
    """
    blocks = list(params["blocks"])
    if not 0 <= i < 2 * len(blocks):
        raise ValueError(f"i must lie from 0 to 2L-1 = {2 * len(blocks) - 1}: got {i}")
    block, name = blocks[i // 2], ("W_o", "W_down")[i % 2]
    blocks[i // 2] = {**block, name: np.zeros_like(block[name])}
    return {**params, "blocks": blocks}


def logit_lens(stream, params, eps=1e-5):
    """Ask every layer what it would say: its own final norm, then the logits (22.5).

    Parameters
    ----------
    stream : ndarray of float, shape (..., d)
        The stream at any place, as ``stream`` of `trace_decoder`.
    params : dict
        ``final_norm`` (d,), and ``embedding`` (V, d) or, if the weights are untied, ``head``.
    eps : float
        As in `rmsnorm_forward`.

    Returns
    -------
    logits : ndarray, shape (..., V)
        In the dtype of ``stream``. The RMS is that of this place, not of the end of the stack:
        the stream grows from layer to layer.

    Raises
    ------
    ValueError
        If a weight does not have the width of the stream.

    Notes
    -----
    Source: nostalgebraist 2020, interpreting GPT: the logit lens.
    """
    out, _ = rmsnorm_forward(stream, params["final_norm"], eps)
    return logits_forward(out, params.get("head", params["embedding"]))[0]  # (..., V)


def top_tokens(logits, k=5):
    """List the likeliest tokens with their probabilities, likeliest first.

    Parameters
    ----------
    logits : ndarray of float, shape (..., V)
        Scores of the next token.
    k : int
        How many to list, at most V.

    Returns
    -------
    ids : ndarray of int
        The tokens, of shape (..., k).
    probabilities : ndarray of float
        Theirs, of the same shape.

    Raises
    ------
    ValueError
        If k does not lie from 1 to V.
    """
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k must lie from 1 to V = {logits.shape[-1]}: got {k}")
    ids = np.argsort(-logits, axis=-1, kind="stable")[..., :k]
    return ids, np.take_along_axis(softmax(logits), ids, axis=-1)


def pack_trace(trace):
    """Make a trace small: weights from 0 to 1 in steps of 1/255, other numbers in float16.

    Parameters
    ----------
    trace : dict
        Name to array, as from `trace_decoder`; more names may stand beside.

    Returns
    -------
    packed : dict
        ``attention`` as uint8, other floats as float16, integers and texts as they are. Where
        an array is too large for float16 all of it is divided by a power of two, which stands
        under its name with ``.scale``.
    """
    packed = {}
    for name, array in trace.items():
        array = np.asarray(array)
        if name == "attention":
            packed[name] = np.rint(255 * array).astype(np.uint8)
        elif np.issubdtype(array.dtype, np.floating):
            scale = _scale(array)
            packed[name] = (array / scale).astype(np.float16)
            packed |= {f"{name}.scale": np.float32(scale)} if scale > 1 else {}
        else:
            packed[name] = array
    return packed


def _scale(array):
    """Give the power of two, 1 or more, that brings the largest entry below the limit."""
    largest = np.max(np.abs(array), initial=0.0) / LARGEST_HALF
    return 2.0 ** max(0, np.ceil(np.log2(largest))) if largest > 1 else 1.0


def unpack_trace(packed):
    """Undo `pack_trace`, as far as the small types allow.

    Parameters
    ----------
    packed : dict
        From `pack_trace`.

    Returns
    -------
    trace : dict
        The same names; every stored fraction as float32. A weight of attention is off by at
        most 1/510, another number by at most 1/2048 of itself, or, when it is below 6e-5, by
        at most 3e-8, both times the scale.
    """
    trace = {}
    for name in packed:
        array = packed[name]
        if array.dtype == np.uint8:
            trace[name] = array / np.float32(255)
        elif array.dtype == np.float16:
            scale = packed[f"{name}.scale"] if f"{name}.scale" in packed else np.float32(1)
            trace[name] = array.astype(np.float32) * scale
        elif not name.endswith(".scale"):
            trace[name] = array
    return trace


def save_trace(path, trace):
    """Write a packed trace to a compressed npz file.

    Parameters
    ----------
    path : str or Path
        The file to write.
    trace : dict
        As in `pack_trace`.
    """
    np.savez_compressed(path, **pack_trace(trace))


def load_trace(path):
    """Read a trace that `save_trace` wrote.

    Parameters
    ----------
    path : str or Path
        The file to read.

    Returns
    -------
    trace : dict
        As from `unpack_trace`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged or no npz file.
    """
    return unpack_trace(read_npz(path, "make it with save_trace"))
