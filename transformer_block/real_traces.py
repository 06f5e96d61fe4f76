"""Stored runs of the pretrained model: what pages and pictures show without its 538 MB."""

from pathlib import Path

import numpy as np

from transformer_block.traces import load_trace, logit_lens, top_tokens, trace_decoder

FOLDER = Path(__file__).parent / "data" / "traces"
SENTENCES = {
    "fact": "The capital of France is",
    "repeat": "The old clock on the wall stopped. The old clock on the",
    "names": "When Mary and John went to the store, John gave a drink to",
    "count": "one, two, three, four, five, six,",
}
SHOWN = 5  # tokens of the logit lens at each place


def trace_sentence(model, text):
    """Run the pretrained model on a text; keep what is shown, about a tenth of all there is.

    Parameters
    ----------
    model : PretrainedModel
        From `load_gguf`.
    text : str
        The sentence.

    Returns
    -------
    trace : dict
        Of every token: ``ids`` (T,), ``tokens`` (T,), their texts, ``attention`` (L, H, T, T),
        ``stream_rms`` (2L + 1, T) and ``write_rms`` (2L, T), the sizes of the stream and of
        what was added, ``lens_ids`` and ``lens_probabilities`` (2L + 1, T, 5), the likeliest
        tokens at each place, and ``lens_tokens``, their texts. Of the last token alone:
        ``stream`` (2L + 1, d), ``writes`` (2L, d), ``gate`` and ``up`` (L, h).

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
    return {
        "ids": ids,
        "tokens": _texts(model.tokenizer, ids),
        "attention": full["attention"],
        "stream_rms": _rms(full["stream"]),
        "write_rms": _rms(full["writes"]),
        "lens_ids": lens_ids,
        "lens_probabilities": probabilities,
        "lens_tokens": _texts(model.tokenizer, lens_ids),
        **{name: full[name][:, -1] for name in ("stream", "writes", "gate", "up")},
    }


def _rms(x):
    """Measure the size of every row."""
    return np.sqrt(np.mean(x * x, axis=-1))


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
