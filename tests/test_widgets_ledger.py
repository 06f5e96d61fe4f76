"""The Python side of the stream ledger and the gate map: what they accept and what they send."""

import numpy as np
import pytest
import traitlets

from transformer_block.initialise import initialise_decoder
from transformer_block.real_traces import SENTENCES, load_real_trace
from transformer_block.swiglu import silu
from transformer_block.tiny import held_out_stories, load_tiny, tiny_config
from transformer_block.traces import logit_lens, trace_decoder
from transformer_block.widgets import GateMap, StreamLedger

T = 5


def arrays_of(listed, data, begin=0):
    """Read the bytes of a widget as the browser does."""
    arrays = {}
    for name, kind, count in listed:
        arrays[name] = np.frombuffer(data, kind, count, begin)
        begin += arrays[name].nbytes
    return arrays


def opened(shown, name):
    """One run of a ledger: what is said of it, and its arrays in their shapes."""
    run = next(run for run in shown.runs if run["name"] == name)
    T, places, d = len(run["tokens"]), run["places"], run["d"]
    shapes = {
        "stream": (places, T), "write": (places - 1, T), "cosine": (places - 1, T),
        "lens": (places, T, run["listed"]), "chance": (places, T, run["listed"]),
        "parts": (len(run["held"]), places, d), "end": (len(run["held"]), d), "head": (-1, d),
    }  # fmt: skip
    arrays = arrays_of(run["arrays"], shown.data, run["begin"])
    return run, {name: arrays[name].reshape(shape) for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def model():
    params = initialise_decoder(tiny_config(), np.random.default_rng(0), dtype=np.float64)
    return params, trace_decoder(np.array([3, 1, 4, 1, 5]), params, 4)


# ---- Stream ledger --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1])
def test_the_tiny_models_ledger_adds_up_and_its_rows_give_the_lens(number):
    params, config, tokenizer = load_tiny(dtype=np.float64)
    run, arrays = opened(StreamLedger(), f"story{number}")
    story = held_out_stories(2, n_facts=2)[number]
    assert "".join(run["tokens"]) == story.text[: story.spans[0][0]]
    np.testing.assert_allclose(arrays["parts"].sum(axis=1), arrays["end"], atol=1e-5)
    stream = trace_decoder(tokenizer.encode("".join(run["tokens"])), params, config.n_heads)
    lens = logit_lens(stream["stream"], params)
    sums = np.cumsum(arrays["parts"].astype(np.float64), axis=1).swapaxes(0, 1)
    scaled = sums / np.sqrt(np.mean(sums**2, axis=-1, keepdims=True) + run["eps"])
    np.testing.assert_allclose(scaled @ arrays["head"].T, lens, atol=1e-4)
    words = np.array(run["words"])[arrays["lens"][..., 0]]
    wanted = np.vectorize(lambda i: tokenizer.decode([i]))(lens.argmax(axis=-1))
    assert (words == wanted).all()


@pytest.mark.parametrize("name", SENTENCES)
def test_the_real_models_ledger_holds_its_stored_run(name):
    trace = load_real_trace(name)
    run, arrays = opened(StreamLedger("real"), name)
    assert run["held"] == [len(trace["tokens"]) - 1]
    np.testing.assert_array_equal(arrays["parts"][0, 1:], trace["writes"])
    np.testing.assert_array_equal(arrays["end"][0], trace["stream"][-1])
    np.testing.assert_allclose(arrays["stream"], trace["stream_rms"])
    np.testing.assert_allclose(arrays["cosine"], trace["write_cosine"])
    assert (np.array(run["words"])[arrays["lens"]] == trace["lens_tokens"]).all()
    assert run["said"] == trace["head_tokens"].tolist()


def test_a_trace_of_ones_own_is_shown_alone_at_its_last_token(model):
    params, trace = model
    shown = StreamLedger(trace=trace, params=params, tokens=list("abcde"))
    run, arrays = opened(shown, "yours")
    assert (shown.text, shown.token, shown.place) == ("yours", 4, 4)
    np.testing.assert_allclose(arrays["parts"][:, 0], trace["stream"][0], atol=1e-7)
    np.testing.assert_allclose(arrays["end"], trace["stream"][-1], atol=1e-7)
    assert run["tokens"] == list("abcde")


def changed(trace, **changes):
    return {**trace, **{name: change(trace[name]) for name, change in changes.items()}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"stream": lambda a: a[:, 0]}, r"stream must have 3 axes, none empty: got \(5, 64\)"),
        ({"writes": lambda a: a[:3]}, r"writes \(2L, T, d\).*: got \(5, 5, 64\) and \(3, 5, 64\)"),
        ({"writes": lambda a: 2 * a}, "must add up to the stream: off by"),
        ({"stream": lambda a: a * np.nan}, "stream must be finite everywhere"),
    ],
)
def test_a_trace_that_is_none_is_refused_with_a_sentence(model, change, sentence):
    params, trace = model
    with pytest.raises(traitlets.TraitError, match=sentence):
        StreamLedger(trace=changed(trace, **change), params=params)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"model": "large"}, "model must be tiny or real: got 'large'"),
        ({"text": "fact"}, "text must be one of story0, story1: got 'fact'"),
        ({"token": 84}, "token must be from 0 to 83: got 84"),
        ({"place": 5}, "place must be from 0 to 4: got 5"),
        ({"off": [5]}, "off must be from 0 to 4: got 5"),
        ({"trace": {}}, "trace must have stream and writes, and params its model"),
    ],
)
def test_what_the_ledger_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        StreamLedger(**wrong)


def test_entries_that_are_left_out_are_kept_in_order_and_once():
    assert StreamLedger(off=[3, 1, 3]).off == [1, 3]


def test_a_vocabulary_and_tokens_must_fit(model):
    params, trace = model
    for wrong, sentence in (
        ({"vocabulary": ["a"]}, "vocabulary must have V = 38 tokens: got 1"),
        ({"tokens": ["a"]}, "tokens must be as many as the rows, 5: got 1"),
    ):
        with pytest.raises(traitlets.TraitError, match=sentence):
            StreamLedger(trace=trace, params=params, **wrong)


# ---- Gate map -------------------------------------------------------------------------------


def test_the_gate_map_sends_the_stored_gates_of_every_token():
    shown, trace = GateMap(), load_real_trace("repeat")
    arrays = arrays_of(shown.arrays, shown.data)
    for name in ("gate", "up"):
        np.testing.assert_array_equal(arrays[name], trace[f"gated_{name}"].ravel())
    assert (shown.blocks, shown.h) == ([0, 7, 15, 22, 29], 1536)
    assert shown.tokens == trace["tokens"].tolist()


def test_what_the_page_says_of_nearly_closed_gates_is_so():
    trace = load_real_trace("repeat")
    closed = np.abs(silu(trace["gated_gate"])) < 0.1
    first, last = closed[0], closed[-1]
    assert (round(100 * first.mean()), round(100 * last.mean())) == (45, 15)
    words = [token.strip() for token in trace["tokens"]]
    clocks = [i for i, word in enumerate(words) if word == "clock"]
    assert [round(100 * first[i].mean()) for i in clocks] == [19, 19]
    assert round(100 * first[words.index(".")].mean()) == 74


@pytest.mark.parametrize("shape", [(T, 7), (3, T, 7)])
def test_gates_of_ones_own_may_be_of_one_block_or_several(shape):
    gate, up = np.random.default_rng(0).normal(size=(2, *shape))
    shown = GateMap(gate=gate, up=up, tokens=list("abcde"))
    arrays = arrays_of(shown.arrays, shown.data)
    np.testing.assert_allclose(arrays["gate"].reshape(shape), gate, rtol=1e-3)
    np.testing.assert_allclose(arrays["up"].reshape(shape), up, rtol=1e-3)
    assert len(shown.blocks) == (3 if len(shape) == 3 else 1)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"gate": np.ones((T, 7))}, "gate and up must come together"),
        ({"gate": np.ones((T, 7)), "up": np.ones((T, 6))}, r"one shape.*: got \(5, 7\) and"),
        ({"gate": np.ones(7), "up": np.ones(7)}, r"gate must have 2 or 3 axes.*: got \(7,\)"),
        ({"gate": np.full((T, 7), 1e6), "up": np.ones((T, 7))}, "must fit into float16"),
        ({"which": 5}, "which must be from 0 to 4: got 5"),
        ({"unit": 1536}, "unit must be from 0 to 1535: got 1536"),
        ({"token": -1}, "token must be from 0 to 12: got -1"),
        ({"shown": "value"}, "expected any of .*'hidden'"),
    ],
)
def test_what_the_gate_map_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        GateMap(**wrong)
