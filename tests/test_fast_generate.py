"""The faster generation writes what the readable one writes."""

import numpy as np
import pytest

from transformer_block._trees import flatten, tree_map
from transformer_block.config import llama_config
from transformer_block.fast_generate import fast_generate, fast_generate_steps
from transformer_block.generate import generate
from transformer_block.initialise import initialise_decoder

SETTINGS = {"n_heads": 6, "rope_base": 523.0, "eps": 1e-3}
PROMPT = np.array([3, 17, 0, 17, 5])


def model(n_kv_heads=3, tied="tied", dtype=np.float64, scale=1.0):
    config = llama_config(d=24, n_layers=3, n_heads=6, n_kv_heads=n_kv_heads, h=29, V=19, tied=tied)
    params = initialise_decoder(config, np.random.default_rng(7), std=0.4)
    rng = np.random.default_rng(8)
    params = tree_map(lambda p: (p + 0.1 * rng.normal(size=p.shape)).astype(dtype), params)
    blocks = [
        {**b, "W_gate": scale * b["W_gate"], "W_q": scale * b["W_q"]} for b in params["blocks"]
    ]
    return {**params, "embedding": scale * params["embedding"], "blocks": blocks}


@pytest.mark.parametrize("n_kv_heads", [1, 3, 6])
@pytest.mark.parametrize("tied", ["tied", "untied"])
def test_greedy_tokens_are_the_same(n_kv_heads, tied):
    params = model(n_kv_heads, tied)
    wanted = generate(PROMPT, params, n_new=31, **SETTINGS)
    assert len(set(wanted[5:].tolist())) > 2  # a text that says something
    assert fast_generate(PROMPT, params, n_new=31, **SETTINGS).tolist() == wanted.tolist()


def test_drawn_tokens_are_the_same_for_the_same_seed():
    params = model()
    first, second = (
        f(PROMPT, params, n_new=31, rng=np.random.default_rng(4), temperature=1.5, top_k=11,
          top_p=0.9, **SETTINGS)
        for f in (generate, fast_generate)
    )  # fmt: skip
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_logits_are_the_same_in_their_dtype_and_without_warnings(
    monkeypatch, dtype, tolerance, scale
):
    params, seen = model(dtype=dtype, scale=scale), {generate: [], fast_generate: []}
    for f, logits in seen.items():

        def choose(scores, logits=logits):
            logits.append(scores)
            return np.int64(len(logits) % 19)

        monkeypatch.setattr(f"transformer_block.{f.__name__}.choose_token", choose)
        f(PROMPT, params, n_new=13, **SETTINGS)
    for slow, fast in zip(*seen.values(), strict=True):
        assert fast.dtype == slow.dtype == dtype
        assert np.max(np.abs(fast - slow)) <= tolerance * np.max(np.abs(slow))


@pytest.mark.parametrize("n_new", [0, 1, 2])
def test_no_token_or_few_tokens_are_no_special_case(n_new):
    assert len(fast_generate(PROMPT, model(), n_new=n_new, **SETTINGS)) == 5 + n_new


def test_nothing_writes_into_its_arguments():
    params, ids = model(), PROMPT.copy()
    for array in (*flatten(params).values(), ids):
        array.flags.writeable = False  # a write would raise
    fast_generate(ids, params, n_new=3, **SETTINGS)


def test_two_runs_at_once_do_not_share_their_cache():
    params = model()
    alone = list(fast_generate_steps(PROMPT, params, n_new=7, **SETTINGS))
    runs = [fast_generate_steps(PROMPT, params, n_new=7, **SETTINGS) for _ in range(2)]
    assert list(zip(*runs, strict=True)) == [(token, token) for token in alone]


@pytest.mark.parametrize(
    ("ids", "more", "text"),
    [
        (PROMPT[None], {}, r"ids must have shape \(T,\): got \(1, 5\)"),
        (PROMPT[:0], {}, r"ids must hold at least one new token: got T=0"),
        (PROMPT, {"context": 7},
         r"T must be at most the model's context of 7 tokens: got T=8"),
        (PROMPT + 17, {}, r"ids must lie in the vocabulary, 0 to V-1 = 18: got 17 to 34"),
    ],
)  # fmt: skip
def test_bad_input_is_told_with_what_was_wanted_and_what_came(ids, more, text):
    with pytest.raises(ValueError, match=text):
        fast_generate(ids, model(), n_new=3, **SETTINGS, **more)


def test_weights_in_half_precision_are_refused():
    with pytest.raises(ValueError, match=r"^params must be in float32 or float64: got float16$"):
        fast_generate(PROMPT, model(dtype=np.float16), n_new=3, **SETTINGS)
