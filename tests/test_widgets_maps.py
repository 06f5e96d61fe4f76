"""The Python side of the maps: what they accept, and what they send of the stored runs."""

import numpy as np
import pytest
import traitlets

from transformer_block.initialise import initialise_decoder
from transformer_block.real_traces import SENTENCES, load_real_trace
from transformer_block.tiny import tiny_config
from transformer_block.traces import trace_decoder
from transformer_block.widgets import AttentionMap

T, H, L = 5, 2, 3


def causal(*shape):
    """Random weights that sum to one over the past."""
    scores = np.random.default_rng(0).uniform(0.1, 1, size=shape) * np.tri(shape[-1])
    return scores / scores.sum(axis=-1, keepdims=True)


# ---- Attention map --------------------------------------------------------------------------


def unpacked(shown):
    """Read the bytes of an attention map as the browser does: a square for each text."""
    layers, heads = shown.size
    data, squares = np.frombuffer(shown.weights, np.uint8), {}
    for text in shown.texts:
        length = len(text["tokens"])
        count = layers * heads * length * (length + 1) // 2
        square = np.zeros((layers, heads, length, length))
        square[..., np.tri(length, dtype=bool)] = data[:count].reshape(layers, heads, -1) / 255
        squares[text["name"]], data = square, data[count:]
    assert data.size == 0
    return squares


def test_the_attention_map_sends_every_weight_of_every_stored_run():
    shown = AttentionMap()
    assert [text["name"] for text in shown.texts] == list(SENTENCES)
    for text, square in zip(shown.texts, unpacked(shown).values(), strict=True):
        trace = load_real_trace(text["name"])
        assert "".join(text["tokens"]) == SENTENCES[text["name"]]
        np.testing.assert_allclose(square, trace["attention"], atol=1e-7)


def test_the_map_opens_where_a_head_has_found_what_came_next():
    shown = AttentionMap()
    words = load_real_trace("repeat")["tokens"]
    assert (words[shown.query], words[shown.key]) == (" the", " wall")
    pair = load_real_trace("repeat")["attention"][:, :, shown.query, shown.key]
    assert np.unravel_index(pair.argmax(), pair.shape) == (shown.layer, shown.head)
    assert pair.max() > 0.9


@pytest.mark.parametrize("shape", [(T, T), (H, T, T), (L, H, T, T)])
def test_weights_of_ones_own_may_come_with_or_without_heads_and_layers(shape):
    weights = causal(*shape)
    shown = AttentionMap(attention=weights, tokens=list("abcde"))
    assert (shown.text, shown.query, shown.key) == ("yours", T - 1, 0)
    assert shown.texts[0]["tokens"] == list("abcde")
    np.testing.assert_allclose(np.squeeze(unpacked(shown)["yours"]), weights, atol=1 / 510 + 1e-9)


def test_the_trace_of_a_model_fits_and_so_does_a_stored_one():
    params = initialise_decoder(tiny_config(), np.random.default_rng(0))
    trace = trace_decoder(np.array([3, 1, 4, 1]), params, 4)
    assert AttentionMap(attention=trace["attention"]).size == [2, 4]
    stored = load_real_trace("names")
    shown = AttentionMap(attention=stored["attention"], tokens=stored["tokens"], layer=29)
    np.testing.assert_allclose(unpacked(shown)["yours"], stored["attention"], atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"text": "poem"}, "text must be one of fact, repeat, names, count: got 'poem'"),
        ({"layer": 30}, "layer must be from 0 to 29: got 30"),
        ({"head": -1}, "head must be from 0 to 8: got -1"),
        ({"query": 14}, "query must be from 0 to 13: got 14"),
        ({"attention": "map"}, "attention must be an array of numbers: got 'map'"),
        ({"attention": causal(T, T)[0]}, "attention must have 2 or 3 or 4 axes"),
        ({"attention": causal(H, T, T)[:, :3]}, r"T rows of T weights.*: got \(2, 3, 5\)"),
        ({"attention": np.full((T, T), 0.2)}, "must not look ahead: got a weight of 0.2"),
        ({"attention": 2 * causal(T, T)}, "rows that sum to 1, none negative: off by 1"),
        ({"attention": np.full((T, T), np.nan)}, "attention must be finite everywhere"),
        ({"attention": causal(T, T), "tokens": ["a"]}, "as many as the rows, 5: got 1"),
        ({"attention": causal(H, T, T), "head": 2}, "head must be from 0 to 1: got 2"),
    ],
)
def test_what_the_attention_map_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        AttentionMap(**wrong)


def test_another_stored_text_is_entered_at_its_last_token():
    shown = AttentionMap(text="fact")
    assert (shown.query, shown.key) == (4, 3)
    with pytest.raises(traitlets.TraitError, match="layer must be"):
        shown.layer = 30
