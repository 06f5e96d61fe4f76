"""Generation: the cached stack is the full stack, and each way to choose keeps its promise."""

import numpy as np
import pytest

from transformer_block._trees import flatten
from transformer_block.config import llama_config
from transformer_block.decoder import decoder_forward
from transformer_block.generate import (
    choose_token,
    decoder_step,
    generate,
    generate_steps,
    next_token_probabilities,
)
from transformer_block.initialise import initialise_decoder

V, H = 13, 6
IDS = np.array([[3, 11, 3, 0, 7, 7, 1], [5, 2, 12, 3, 3, 9, 0]])


def model(tied="tied", n_kv_heads=2, dtype=np.float64):
    config = llama_config(d=24, n_layers=3, n_heads=H, n_kv_heads=n_kv_heads, h=17, V=V, tied=tied)
    return initialise_decoder(config, np.random.default_rng(0), std=0.5, dtype=dtype)


@pytest.mark.parametrize("pieces", [[7], [1] * 7, [3, 1, 1, 2], [1, 6]], ids=str)
@pytest.mark.parametrize(("tied", "n_kv_heads"), [("tied", 2), ("untied", 6), ("untied", 1)])
def test_the_stack_with_cache_gives_the_logits_of_the_full_stack(tied, n_kv_heads, pieces):
    params = model(tied, n_kv_heads)
    full, _ = decoder_forward(IDS, params, H, rope_base=500.0, eps=1e-3)
    past, end = None, 0
    for length in pieces:
        new = IDS[:, end : end + length]
        logits, past = decoder_step(new, params, H, past, rope_base=500.0, eps=1e-3)
        end += length
        np.testing.assert_allclose(logits, full[:, end - 1], rtol=0, atol=1e-12)
    assert [k.shape for k, _ in past] == [(2, n_kv_heads, 7, 4)] * 3


def test_a_step_leaves_the_old_cache_as_it_was():
    params = model()
    _, past = decoder_step(IDS, params, H)
    for array in [a for pair in past for a in pair] + [*flatten(params).values()]:
        array.flags.writeable = False  # a write would raise
    first, second = (decoder_step(IDS[:, :1], params, H, past)[0] for _ in range(2))
    assert first.tolist() == second.tolist()


def test_greedy_generation_takes_the_likeliest_token_of_the_full_stack_each_time():
    params = model()
    want = IDS
    for _ in range(9):
        logits, _ = decoder_forward(want, params, H)
        want = np.concatenate([want, np.argmax(logits[:, -1:], axis=-1)], axis=-1)
    assert generate(IDS, params, H, 9).tolist() == want.tolist()


def test_a_sequence_alone_is_continued_as_it_is_among_others():
    params = model()
    together = generate(IDS, params, H, 5)
    assert generate(IDS[1], params, H, 5).tolist() == together[1].tolist()


def test_one_seed_gives_one_text_and_another_seed_another():
    params = model()
    texts = [
        generate(IDS, params, H, 30, rng=np.random.default_rng(s), temperature=2.0).tolist()
        for s in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_no_new_tokens_give_the_prefix():
    assert generate(IDS, model(), H, 0).tolist() == IDS.tolist()


LOGITS = np.log(np.array([0.1, 0.4, 0.05, 0.25, 0.2]))


@pytest.mark.parametrize(
    ("choice", "want"),
    [
        ({}, [0.1, 0.4, 0.05, 0.25, 0.2]),
        ({"top_k": 2}, [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]),
        ({"top_k": 99}, [0.1, 0.4, 0.05, 0.25, 0.2]),
        ({"top_p": 0.7}, [0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85]),
        ({"top_p": 0.64}, [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]),
        ({"top_p": 1e-9}, [0, 1, 0, 0, 0]),
        ({"top_k": 3, "top_p": 0.7}, [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]),
        ({"temperature": 0.5}, np.array([0.01, 0.16, 0.0025, 0.0625, 0.04]) / 0.275),
    ],
    ids=str,
)
def test_the_tokens_that_stay_share_the_probability_in_proportion(choice, want):
    found = next_token_probabilities(np.stack([LOGITS, LOGITS[::-1]]), **choice)
    np.testing.assert_allclose(found, [want, want[::-1]], rtol=1e-13)


def test_equally_likely_tokens_stay_in_the_order_of_their_ids():
    found = next_token_probabilities(np.zeros(5), top_k=2)
    assert found.tolist() == [0.5, 0.5, 0, 0, 0]


def test_draws_are_as_frequent_as_their_probabilities():
    draws = choose_token(
        np.tile(LOGITS, (20_000, 1)), np.random.default_rng(3), temperature=1.0, top_k=4
    )
    share = np.bincount(draws, minlength=5) / 20_000
    want = np.array([0.1, 0.4, 0, 0.25, 0.2]) / 0.95
    assert np.abs(share - want).max() < 0.015  # four standard deviations
    assert share[2] == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1e-6, 1.0, 1e6])
def test_any_temperature_and_large_logits_give_probabilities(dtype, temperature):
    logits = np.array([1e4, -1e4, 0.0, 1e4], dtype)
    p = next_token_probabilities(logits, temperature, top_p=0.9)
    assert p.dtype == dtype
    assert float(p.sum()) == pytest.approx(1.0, abs=2e-3)
    assert choose_token(logits, np.random.default_rng(0), temperature, top_k=2) in (0, 3)


def test_the_last_token_that_fits_the_context_is_written_and_the_next_is_refused():
    params = model()
    assert generate(IDS, params, H, 3, context=10).shape == (2, 10)
    steps = generate_steps(IDS, params, H, context=8)
    next(steps)
    with pytest.raises(ValueError, match="context of 8 tokens: got T=9"):
        next(steps)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: generate(IDS, model(), H, 4, context=10),
            r"T must be at most the model's context of 10 tokens: got T=11",
        ),
        (
            lambda: generate(IDS + 1, model(), H, 4),
            r"ids must lie in the vocabulary, 0 to V-1 = 12: got 1 to 13",
        ),
        (
            lambda: generate(IDS[:, :0], model(), H, 4),
            r"ids must hold at least one new token: got T=0",
        ),
        (
            lambda: choose_token(LOGITS, temperature=1.0),
            r"drawing a token needs rng: .*",
        ),
        (
            lambda: next_token_probabilities(LOGITS, temperature=0.0),
            r"temperature must be positive: got 0\.0",
        ),
        (lambda: next_token_probabilities(LOGITS, top_k=0), r"top_k must be 1 or more: got 0"),
        (
            lambda: next_token_probabilities(LOGITS, top_p=0.0),
            r"top_p must be above 0 and at most 1: got 0\.0",
        ),
        (
            lambda: next_token_probabilities(LOGITS, top_p=1.5),
            r"top_p must be above 0 and at most 1: got 1\.5",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
