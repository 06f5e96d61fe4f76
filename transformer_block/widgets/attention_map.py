"""Attention map: who looks at whom, in every head of a real model or of a trace of yours."""

from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.real_traces import SENTENCES, load_real_trace
from transformer_block.widgets._base import self_contained, stylesheet
from transformer_block.widgets._stored import (
    YOURS,
    array_of,
    one_of,
    text_of,
    tokens_of,
    within,
)

LONGEST = 128  # tokens
LARGEST = 4_000_000  # weights
TOLERANCE = 1e-2  # of a weight; bytes take 1/510 of each besides


class AttentionMap(anywidget.AnyWidget):
    """Show the weights of one head as a map, one row of it as bars, and one pair in all heads.

    Parameters
    ----------
    text : str
        Which stored run of SmolLM2-135M is shown: ``"fact"``, ``"repeat"``, ``"names"`` or
        ``"count"``. With weights of yours it is ``"yours"``.
    layer : int
        The block, from 0.
    head : int
        The head in it, from 0.
    query : int
        The token that looks.
    key : int
        The token that is looked at; none after the query.
    attention : ndarray of float, shape (T, T), (H, T, T) or (L, H, T, T), optional
        Weights of yours, as from `trace_decoder`; they are shown in place of the stored runs.
    tokens : sequence of str, optional
        The texts of your T tokens.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above, or weights are not those of a causal softmax.
    """

    _esm = self_contained("attention_map")
    _css = stylesheet("maps", "attention_map")

    text = traitlets.Unicode("repeat").tag(sync=True)
    layer = traitlets.Int(18).tag(sync=True)
    head = traitlets.Int(6).tag(sync=True)
    query = traitlets.Int(12).tag(sync=True)
    key = traitlets.Int(5).tag(sync=True)
    texts = traitlets.List().tag(sync=True)  # of each its name, its title and its tokens
    size = traitlets.List().tag(sync=True)  # L and H
    weights = traitlets.Bytes().tag(sync=True)  # uint8, text by text (L, H, T (T + 1) / 2)

    def __init__(self, attention=None, tokens=None, **moves):
        shown = stored_weights() if attention is None else given_weights(attention, tokens)
        if attention is not None:
            T = len(shown["texts"][0]["tokens"])
            moves = {"text": YOURS, "layer": 0, "head": 0, "query": T - 1, "key": 0, **moves}
        elif (text := moves.get("text")) in SENTENCES and text != "repeat":
            T = len(load_real_trace(text)["tokens"])
            moves = {"query": T - 1, "key": max(0, T - 2), **moves}
        super().__init__(**shown, **moves)

    @traitlets.validate("text")
    def _check_text(self, proposal):
        return one_of("text", proposal.value, [text["name"] for text in self.texts])

    @traitlets.validate("layer", "head")
    def _check_head(self, proposal):
        return within(proposal.trait, proposal.value, self.size[proposal.trait.name == "head"])

    @traitlets.validate("query", "key")
    def _check_token(self, proposal):
        lengths = [len(text["tokens"]) for text in self.texts]
        return within(proposal.trait, proposal.value, max(lengths))


@cache
def stored_weights():
    """Gather the weights of all stored runs."""
    traces = {name: load_real_trace(name) for name in SENTENCES}
    return {
        "texts": [text_of(name, trace["tokens"]) for name, trace in traces.items()],
        "size": list(traces["fact"]["attention"].shape[:2]),
        "weights": b"".join(packed(trace["attention"]) for trace in traces.values()),
    }


def given_weights(attention, tokens):
    """Check the weights of a learner.

    Raises
    ------
    traitlets.TraitError
        If they are not weights of a causal softmax over at most 128 tokens.
    """
    weights = array_of("attention", attention, (2, 3, 4))
    *_, T, S = weights.shape
    if T != S or T > LONGEST or weights.size > LARGEST:
        raise traitlets.TraitError(
            f"attention must have T rows of T weights, T up to {LONGEST}, "
            f"and {LARGEST:,} in all: got {weights.shape}"
        )
    ahead = np.abs(np.triu(weights, k=1)).max()
    if ahead > TOLERANCE:
        raise traitlets.TraitError(f"attention must not look ahead: got a weight of {ahead:.3g}")
    off = np.abs(weights.sum(axis=-1) - 1).max()
    if weights.min() < -TOLERANCE or off > TOLERANCE + T / 510:
        raise traitlets.TraitError(
            f"attention must have rows that sum to 1, none negative: off by {off:.3g}, "
            f"least {weights.min():.3g}"
        )
    whole = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    return {
        "texts": [text_of(YOURS, tokens_of(tokens, T))],
        "size": list(whole.shape[:2]),
        "weights": packed(whole),
    }


def packed(attention):
    """Write weights from 0 to 1 as bytes, without those that the mask hides."""
    seen = np.tri(attention.shape[-1], dtype=bool)
    return np.rint(255 * np.clip(attention[..., seen], 0, 1)).astype(np.uint8).tobytes()
