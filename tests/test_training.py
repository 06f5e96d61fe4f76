"""Training: rows of stories, a loss that falls, the same way each time, and fast gradients."""

import numpy as np
import pytest

from transformer_block._trees import flatten
from transformer_block.config import llama_config
from transformer_block.decoder import loss_and_gradients
from transformer_block.fast_decoder import fast_loss_and_gradients
from transformer_block.initialise import initialise_decoder
from transformer_block.story import alphabet, tell_story
from transformer_block.tokenizer import CharacterTokenizer
from transformer_block.training import answers_right, pack_stories, train

TOKENIZER = CharacterTokenizer(alphabet())
RNG = np.random.default_rng(0)
STORIES = [tell_story(RNG, lesson=lesson) for lesson in (0, 23, 7, 3, 12)]


def model(seed=0, dtype=np.float32):
    config = llama_config(d=16, n_layers=2, n_heads=2, n_kv_heads=2, h=43, V=len(TOKENIZER))
    return initialise_decoder(config, np.random.default_rng(seed), std=0.2, dtype=dtype)


def batches(seed=0, n_rows=5):
    rng = np.random.default_rng(seed)
    while True:
        stories = [tell_story(rng, n_facts=2, lesson=2) for _ in range(n_rows)]
        yield pack_stories(stories, TOKENIZER)


def test_a_row_is_a_story_and_targets_are_one_character_later():
    inputs, targets, weights = pack_stories(STORIES, TOKENIZER)
    T = max(len(story.text) for story in STORIES) - 1
    assert inputs.shape == targets.shape == weights.shape == (5, T)
    for row, next_row, story in zip(inputs, targets, STORIES, strict=True):
        filled = story.text + (T + 1 - len(story.text)) * "\n"
        assert TOKENIZER.decode(row) == filled[:-1]
        assert TOKENIZER.decode(next_row) == filled[1:]


def test_answers_count_in_full_the_rest_less_and_what_comes_after_the_end_not_at_all():
    _, targets, weights = pack_stories(STORIES, TOKENIZER, elsewhere=0.25)
    for row, weight, story in zip(targets, weights, STORIES, strict=True):
        end = len(story.text) - 1
        assert set(weight[:end]) == {0.25, 1.0}
        assert not weight[end:].any()
        text = TOKENIZER.decode(row)
        marked = "".join(c if w == 1 else "_" for c, w in zip(text, weight, strict=True))
        places = [story.facts[i][1] for i in story.asked]
        assert [answer for answer in marked.split("_") if answer] == places


def test_the_loss_falls_and_the_records_tell_how():
    start = model()
    for array in flatten(start).values():
        array.flags.writeable = False  # a write would raise
    records = [record for record, _ in train(start, batches(), 2, 60, peak=1e-2, n_warmup=10)]
    assert [record["step"] for record in records] == [*range(60)]
    assert records[-1]["loss"] < 0.7 * records[0]["loss"]
    assert max(record["rate"] for record in records) == pytest.approx(1e-2)
    assert records[-1]["rate"] < 1.2e-3
    assert all(record["norm"] > 0 for record in records)


def test_the_same_start_and_the_same_batches_give_the_same_bytes():
    runs = [[*train(model(), batches(), 2, 3, n_warmup=1)][-1] for _ in range(2)]
    assert runs[0][0] == runs[1][0]
    first, second = (flatten(params) for _, params in runs)
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


def test_fast_gradients_are_those_of_the_listing():
    params = model(dtype=np.float64)
    inputs, targets, weights = pack_stories(STORIES, TOKENIZER, elsewhere=0.25)
    loss, grads = fast_loss_and_gradients(inputs, targets, params, 2, weights)
    want_loss, want = loss_and_gradients(inputs, targets, params, 2, weights=weights)
    assert loss == pytest.approx(want_loss, rel=1e-13)
    got, want = flatten(grads), flatten(want)
    assert set(got) == set(want) == set(flatten(params))
    for name, grad in want.items():
        assert np.max(np.abs(got[name] - grad)) <= 1e-12 * np.max(np.abs(grad)), name


def test_fast_gradients_are_of_tied_weights_only():
    untied = {**model(), "head": model()["embedding"]}
    with pytest.raises(ValueError, match=r"^the fast decoder has tied weights: got a head"):
        fast_loss_and_gradients(*pack_stories(STORIES, TOKENIZER)[:2], untied, 2)


def test_an_answer_is_right_if_greedy_generation_writes_it():
    """On logits that are right, apart from the last letter of some of the answers."""
    _, targets, _ = pack_stories(STORIES, TOKENIZER)
    logits, want = np.eye(len(TOKENIZER))[targets], []
    for row, story in enumerate(STORIES):
        for place, (_, stop) in enumerate(story.spans):
            want.append((row + place) % 3 > 0)
            logits[row, stop - 2] = np.roll(logits[row, stop - 2], (row + place) % 3 == 0)
    assert answers_right(STORIES, TOKENIZER, logits).tolist() == want
