"""Traces: the ledger of the stream adds up, and a packed trace stays close to what it was."""

import numpy as np
import pytest

from transformer_block.config import llama_config
from transformer_block.decoder import decoder_forward
from transformer_block.initialise import initialise_decoder
from transformer_block.swiglu import silu
from transformer_block.traces import (
    load_trace,
    logit_lens,
    pack_trace,
    save_trace,
    top_tokens,
    trace_decoder,
    unpack_trace,
    without_write,
)

L, H, V, d, h = 3, 2, 13, 12, 17
IDS = np.array([[3, 11, 3, 0, 7], [5, 2, 12, 3, 3]])


def model(tied="tied", dtype=np.float64):
    config = llama_config(d=d, n_layers=L, n_heads=H, n_kv_heads=1, h=h, V=V, tied=tied)
    return initialise_decoder(config, np.random.default_rng(0), std=0.5, dtype=dtype)


@pytest.fixture(scope="module")
def trace():
    return trace_decoder(IDS, model(), H)


def test_every_array_has_its_documented_shape(trace):
    assert {name: array.shape for name, array in trace.items()} == {
        "ids": (2, 5),
        "stream": (2 * L + 1, 2, 5, d),
        "writes": (2 * L, 2, 5, d),
        "attention": (L, 2, H, 5, 5),
        **dict.fromkeys(("gate", "open", "up", "hidden"), (L, 2, 5, h)),
    }


def test_embedding_plus_all_writes_is_the_stream_at_every_place(trace):
    params = model()
    ledger = params["embedding"][IDS] + np.cumsum(trace["writes"], axis=0)
    np.testing.assert_array_equal(trace["stream"][0], params["embedding"][IDS])
    np.testing.assert_allclose(trace["stream"][1:], ledger, rtol=0, atol=1e-14)


def test_each_write_is_what_block_and_caches_of_the_decoder_say(trace):
    _, (_, blocks, *_) = decoder_forward(IDS, model(), H)
    for i, (norm1, _, residual, _, ffn) in enumerate(blocks):
        np.testing.assert_array_equal(trace["stream"][2 * i], norm1[0])
        np.testing.assert_array_equal(trace["stream"][2 * i + 1], residual)
        np.testing.assert_array_equal(trace["hidden"][i], ffn[-1])


@pytest.mark.parametrize("tied", ["tied", "untied"])
def test_the_lens_at_the_last_place_gives_the_logits_of_the_decoder(tied):
    params = model(tied)
    want, _ = decoder_forward(IDS, params, H, eps=1e-3)
    stream = trace_decoder(IDS, params, H, eps=1e-3)["stream"]
    lens = logit_lens(stream, params, eps=1e-3)
    assert lens.shape == (2 * L + 1, 2, 5, V)
    np.testing.assert_array_equal(lens[-1], want)


def test_the_lens_does_not_see_how_large_a_stream_is(trace):
    params = model()
    lens = logit_lens(trace["stream"], params, eps=0.0)
    np.testing.assert_allclose(logit_lens(9.0 * trace["stream"], params, eps=0.0), lens, rtol=1e-9)


def test_weights_add_to_one_over_the_past_and_hidden_is_the_product_of_its_factors(trace):
    assert not np.triu(trace["attention"], k=1).any()
    np.testing.assert_allclose(trace["attention"].sum(axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(trace["open"], silu(trace["gate"]))
    np.testing.assert_array_equal(trace["hidden"], trace["open"] * trace["up"])


def test_top_tokens_come_likeliest_first_with_their_softmax():
    ids, p = top_tokens(np.log([[0.1, 0.5, 0.4], [0.2, 0.2, 0.6]]), k=2)
    assert ids.tolist() == [[1, 2], [2, 0]]
    np.testing.assert_allclose(p, [[0.5, 0.4], [0.6, 0.2]], rtol=1e-14)


def test_a_trace_comes_back_from_its_file_as_close_as_the_small_types_allow(trace, tmp_path):
    scaled = {**trace, "stream": trace["stream"] * 1e6, "text": np.array("a b")}
    save_trace(tmp_path / "trace.npz", scaled)
    back = load_trace(tmp_path / "trace.npz")
    assert back.keys() == scaled.keys()
    assert back["ids"].tolist() == IDS.tolist()
    assert str(back["text"]) == "a b"
    assert np.abs(back["attention"] - trace["attention"]).max() <= 1 / 510 + 1e-7
    for name in ("stream", "writes", "gate", "open", "up", "hidden"):
        assert back[name].dtype == np.float32
        np.testing.assert_allclose(back[name], scaled[name], rtol=1 / 2048, atol=1e-5)


def test_packing_a_float32_trace_takes_at_most_half_its_bytes():
    trace = trace_decoder(IDS, model(dtype=np.float32), H)
    packed = pack_trace(trace)
    floats = [name for name in trace if name != "ids"]
    assert {packed[name].dtype.itemsize for name in floats} == {1, 2}
    assert unpack_trace(packed).keys() == trace.keys()


def test_a_stream_of_zeros_packs_without_a_warning():
    assert not unpack_trace(pack_trace({"stream": np.zeros((2, 3))}))["stream"].any()


def test_bad_input_is_told_with_what_was_wanted_and_what_came(tmp_path):
    with pytest.raises(ValueError, match=r"^k must lie from 1 to V = 3: got 4$"):
        top_tokens(np.zeros(3), k=4)
    with pytest.raises(FileNotFoundError, match=r"none.npz is missing: make it with save_trace$"):
        load_trace(tmp_path / "none.npz")
    for content in (b"", b"PK\x03\x04 cut off", b"something else"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"bad.npz is damaged or no npz file: make it"):
            load_trace(tmp_path / "bad.npz")


@pytest.mark.parametrize("i", range(2 * L))
def test_a_model_without_a_write_adds_zero_in_its_place_and_is_the_same_before(i):
    params = model()
    whole, silenced = trace_decoder(IDS, params, H), trace_decoder(IDS, without_write(params, i), H)
    assert not silenced["writes"][i].any()
    np.testing.assert_array_equal(silenced["stream"][: i + 1], whole["stream"][: i + 1])
    assert all(silenced["writes"][j].any() for j in range(2 * L) if j != i)
    assert all(block["W_o"].any() and block["W_down"].any() for block in params["blocks"])


@pytest.mark.parametrize("i", [-1, 2 * L])
def test_a_write_that_is_not_there_is_told(i):
    with pytest.raises(ValueError, match=rf"^i must lie from 0 to 2L-1 = 5: got {i}$"):
        without_write(model(), i)
