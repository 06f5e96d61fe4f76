"""Stored runs of the pretrained model: what pages and pictures show without its 538 MB."""

from pathlib import Path

import numpy as np

from transformer_block.softmax import softmax
from transformer_block.traces import load_trace, logit_lens, top_tokens, trace_decoder

FOLDER = Path(__file__).parent / "data" / "traces"
SENTENCES = {
    "fact": "The capital of France is",
    "repeat": "The old clock on the wall stopped. The old clock on the",
    "names": "When Mary and John went to the store, John gave a drink to",
    "count": "one, two, three, four, five, six,",
}
SHOWN = 5  # tokens of the logit lens at each place
CANDIDATES = 16  # tokens whose rows of the output matrix are kept
GATED = ("repeat", (0, 7, 15, 22, 29))  # the run, and its blocks, whose gates are kept for all


def trace_sentence(model, text, gated=()):
    """Run the pretrained model on a text; keep what is shown, about a tenth of all there is.

    Parameters
    ----------
    model : PretrainedModel
        From `load_gguf`.
    text : str
        The sentence.
    gated : sequence of int
        The blocks whose gates are kept for every token.

    Returns
    -------
    trace : dict
        Of every token: ``ids`` (T,), ``tokens`` (T,), their texts, ``attention`` (L, H, T, T),
        ``stream_rms`` (2L + 1, T) and ``write_rms`` (2L, T), the sizes of the stream and of
        what was added, ``write_cosine`` (2L, T), how it lay to the stream before it,
        ``lens_ids`` and ``lens_probabilities`` (2L + 1, T, 5), the likeliest
        tokens at each place, and ``lens_tokens``, their texts. Of the last token alone:
        ``stream`` (2L + 1, d), ``writes`` (2L, d), ``gate`` and ``up`` (L, h);
        and ``head_rows`` (16, d), what scores a token, its row of the output matrix times the
        gain of the final norm, for the tokens that came highest anywhere on its way, with
        ``head_ids`` and ``head_tokens``. If blocks are ``gated``: ``gated`` (n,),
        ``gated_gate`` and ``gated_up`` (n, T, h).

    Raises
    ------
    ValueError
        If the text has no token.
    """
    ids = model.tokenizer.encode(text)
    if not len(ids):
        raise ValueError("the text must have at least one token: got an empty one")
    full = trace_decoder(ids, model.params, **model.settings)
    lens = logit_lens(full["stream"], model.params, model.eps)  # (2L + 1, T, V)
    lens_ids, probabilities = top_tokens(lens, SHOWN)  # (2L + 1, T, 5)
    trace = {
        "ids": ids,
        "tokens": _texts(model.tokenizer, ids),
        "attention": full["attention"],
        "stream_rms": sizes(full["stream"]),
        "write_rms": sizes(full["writes"]),
        "write_cosine": cosines(full["writes"], full["stream"][:-1]),
        "lens_ids": lens_ids,
        "lens_probabilities": probabilities,
        "lens_tokens": _texts(model.tokenizer, lens_ids),
        **{name: full[name][:, -1] for name in ("stream", "writes", "gate", "up")},
        **_candidates(model, lens[:, -1]),
    }
    if len(gated):
        trace |= {"gated": np.array(gated), "gated_gate": full["gate"][list(gated)]}
        trace |= {"gated_up": full["up"][list(gated)]}
    return trace


def cosines(writes, streams):
    """Say how each write lies to the stream that it is added to.

    Parameters
    ----------
    writes : ndarray of float, shape (..., d)
        What is added.
    streams : ndarray of float, shape (..., d)
        What it is added to.

    Returns
    -------
    cosine : ndarray, shape (...)
        1 along the stream, -1 against it, 0 across it or if one of the two is zero.
    """
    lengths = sizes(writes) * sizes(streams)
    along = np.mean(writes * streams, axis=-1)
    return np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0)


def _candidates(model, lens):
    """Keep what scores the tokens whose chance was highest at any place of one token's way."""
    highest = softmax(lens).max(axis=0)  # (V,)
    ids = np.sort(np.argsort(-highest, kind="stable")[:CANDIDATES])
    head = model.params.get("head", model.params["embedding"])
    return {
        "head_ids": ids,
        "head_tokens": _texts(model.tokenizer, ids),
        "head_rows": model.params["final_norm"] * head[ids],
    }


def sizes(rows):
    """Measure the size of every row, its RMS.

    Parameters
    ----------
    rows : ndarray of float, shape (..., d)
        Of the stream, or what is written into it.

    Returns
    -------
    size : ndarray, shape (...)
        The root of the mean square.
    """
    return np.sqrt(np.mean(rows * rows, axis=-1))


def _texts(tokenizer, ids):
    """Write out every token by itself, in an array of the same shape."""
    known = {i: tokenizer.decode([i]) for i in np.unique(ids).tolist()}
    return np.array([known[i] for i in ids.ravel().tolist()]).reshape(ids.shape)


def load_real_trace(name):
    """Read the stored trace of one of `SENTENCES`.

    Parameters
    ----------
    name : str
        "fact", "repeat", "names" or "count".

    Returns
    -------
    trace : dict
        As from `trace_sentence`, to the precision of `unpack_trace`.

    Raises
    ------
    ValueError
        If there is no sentence of this name.
    """
    if name not in SENTENCES:
        raise ValueError(f"name must be one of {', '.join(SENTENCES)}: got {name!r}")
    return load_trace(FOLDER / f"{name}.npz")
