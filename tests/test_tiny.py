"""The tiny model answers questions about stories that it never saw, and does it by attention."""

import numpy as np
import pytest

from transformer_block import train_tiny
from transformer_block._trees import flatten
from transformer_block.decoder import decoder_forward, loss_and_gradients
from transformer_block.generate import generate
from transformer_block.story import LESSONS, alphabet, tell_story, write_story
from transformer_block.tiny import (
    CURVE,
    WEIGHTS,
    held_out_stories,
    load_curve,
    load_tiny,
    run_story,
    tiny_config,
)
from transformer_block.traces import without_write
from transformer_block.train_tiny import ELSEWHERE, N_STEPS, main, save_curve, save_tiny
from transformer_block.training import answer_accuracy, answers_right, choices_right, pack_stories

H = tiny_config().n_heads


@pytest.fixture(scope="module")
def tiny():
    return load_tiny()


def written(tiny, prefix, n):
    """Let the model write on, as a person would use it."""
    params, _, tokenizer = tiny
    ids = tokenizer.encode(prefix)
    return tokenizer.decode(generate(ids, params, H, n)[len(ids) :])


@pytest.mark.parametrize("n_facts", [2, 3])
def test_it_answers_more_than_95_in_100_questions_of_held_out_stories(tiny, n_facts):
    params, _, tokenizer = tiny
    assert answer_accuracy(held_out_stories(60, n_facts), params, H, tokenizer) > 0.95


def test_it_needs_no_earlier_answer_to_copy_from(tiny):
    params, _, tokenizer = tiny
    stories = held_out_stories(60, n_facts=3)
    inputs, _, _ = pack_stories(stories, tokenizer)
    right = answers_right(stories, tokenizer, decoder_forward(inputs, params, H)[0])
    first = [story.asked.index(i) == n for story in stories for n, i in enumerate(story.asked)]
    assert 100 < np.sum(first) < len(first)
    assert np.mean(right[first]) > 0.95


@pytest.mark.parametrize("places", [("barn", "cave"), ("cave", "barn")])
def test_swapping_two_places_in_a_story_swaps_the_answer(tiny, places):
    told = "Mia is in the {}, is Mia. Tom is in the {}, is Tom. Where is Mia?".format(*places)
    want = f" Mia is in the {places[0]}, is Mia."
    assert written(tiny, told, len(want)) == want


@pytest.mark.parametrize(("write", "least", "most"), [(0, 0.2, 0.45), (2, 0.2, 0.45), (3, 0.9, 1)])
def test_without_attention_of_either_block_it_guesses_without_the_last_net_it_does_not(
    tiny, write, least, most
):
    params, _, tokenizer = tiny
    stories = held_out_stories(60, n_facts=3)
    inputs, _, _ = pack_stories(stories, tokenizer)
    whole, _ = decoder_forward(inputs, params, H)
    assert np.mean(choices_right(stories, tokenizer, whole)) > 0.95
    logits, _ = decoder_forward(inputs, without_write(params, write), H)
    assert least <= np.mean(choices_right(stories, tokenizer, logits)) <= most


def test_accuracy_is_the_share_of_answers_that_greedy_generation_writes(tiny):
    """Of a model without its last net: some of its answers are right, some are not."""
    params, _, tokenizer = tiny
    deaf, stories, right = without_write(params, 3), held_out_stories(12, 3), []
    for story in stories:
        for start, stop in story.spans:
            ids = generate(tokenizer.encode(story.text[:start]), deaf, H, stop - start)
            right.append(tokenizer.decode(ids[start:]) == story.text[start:stop])
    assert 0.05 < np.mean(right) < 0.9  # or the comparison would show nothing
    assert answer_accuracy(stories, deaf, H, tokenizer) == pytest.approx(np.mean(right))


def test_the_run_of_a_story_adds_up():
    run, (params, config, tokenizer) = run_story(), load_tiny()
    T, L = len(run["characters"]), config.n_layers
    assert "".join(run["characters"]) == run["story"].text
    assert len(run["story"].facts) == 3
    assert run["attention"].shape == (L, H, T, T)
    np.testing.assert_allclose(run["stream"][1:], run["stream"][:-1] + run["writes"], atol=1e-5)
    assert run["foretold"].shape == (T - 1,)
    assert run["without"].shape == (2 * L, T - 1)
    ids = tokenizer.encode(run["story"].text)
    logits = decoder_forward(ids, params, H)[0].astype(np.float64)
    p = np.exp(logits[:-1]) / np.exp(logits[:-1]).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(run["foretold"], p[np.arange(T - 1), ids[1:]], rtol=1e-4, atol=1e-6)


def test_a_run_shows_answers_that_one_write_of_attention_carries():
    run = run_story()
    first = np.array([start - 1 for start, _ in run["story"].spans])
    assert np.all(run["foretold"][first] > 0.9)
    assert np.mean(run["without"][2][first]) < 0.5


def test_any_story_can_be_run():
    story = write_story([("Ida", "lake"), ("Sam", "shop")], [1])
    assert run_story(story)["story"] is story


def test_its_loss_on_new_stories_is_where_the_curve_ended(tiny):
    params, _, tokenizer = tiny
    rng, curve = np.random.default_rng(2), load_curve()
    stories = [tell_story(rng, n) for n in (2, 3) for _ in range(16)]
    inputs, targets, weights = pack_stories(stories, tokenizer, ELSEWHERE)
    loss, _ = loss_and_gradients(inputs, targets, params, H, weights=weights)
    last = curve["loss"][-100:][curve["lesson"][-100:] == len(LESSONS)]
    assert loss == pytest.approx(last.mean(), abs=0.05)


def test_the_curve_begins_with_knowing_nothing_and_ends_with_all_lessons_passed():
    curve = load_curve()
    assert len(curve["loss"]) == len(curve["lesson"]) == N_STEPS
    assert np.log(len(alphabet())) - 0.5 < curve["loss"][0] < np.log(len(alphabet())) + 1.5
    assert curve["lesson"][0] == 0
    assert curve["lesson"][-1] == len(LESSONS)
    assert set(np.diff(curve["lesson"])) == {0, 1}
    begun = np.flatnonzero(np.diff(curve["lesson"]))
    passed = dict(zip(curve["exam"].tolist(), curve["right"].tolist(), strict=True))
    assert all(passed[step] > train_tiny.PASSED for step in begun.tolist())
    assert curve["right"][-3:].min() > 0.95


def test_training_again_begins_with_the_stored_losses(capsys):
    assert main(["--check", "3"]) == 0
    assert capsys.readouterr().out.startswith("3 losses differ from the stored ones by at most ")


def test_the_first_steps_of_training_repeat_byte_for_byte():
    runs = [list(train_tiny.tiny_training(3)) for _ in range(2)]
    assert [record for record, _ in runs[0]] == [record for record, _ in runs[1]]
    first, second = (flatten(run[-1][1]) for run in runs)
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


def test_the_command_writes_files_that_can_be_read(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(train_tiny, "TERMS", ((60, 5e-3, 0.3), (60, 2e-3, 1.0)))
    monkeypatch.setattr(train_tiny, "N_STEPS", 120)
    monkeypatch.setattr(train_tiny, "EXAM_EVERY", 30)
    assert main(["--out", str(tmp_path / "new")]) == 0
    params, _, _ = load_tiny(tmp_path / "new" / WEIGHTS.name)
    assert params["embedding"].shape == (len(alphabet()), 64)
    curve = load_curve(tmp_path / "new" / CURVE.name)
    assert len(curve["loss"]) == 120
    assert curve["lesson"].tolist() == 60 * [0] + 60 * [len(LESSONS)]
    assert curve["exam"].tolist() == [29, 59, 89, 119]
    assert "questions of held-out stories are answered right" in capsys.readouterr().out


@pytest.mark.parametrize("n", ["0", "-3", "100000"])
def test_the_command_refuses_a_number_of_steps_that_training_does_not_have(n, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--check", n])
    assert stop.value.code == 2
    assert f"N must lie from 1 to {N_STEPS}: got {n}" in capsys.readouterr().err


def test_the_files_stay_small():
    assert WEIGHTS.stat().st_size < 400_000
    assert CURVE.stat().st_size < 50_000


def test_weights_and_curve_come_back_from_their_files(tiny, tmp_path):
    params, _, _ = tiny
    save_tiny(tmp_path / "tiny.npz", params)
    again, wide = (load_tiny(tmp_path / "tiny.npz", dtype)[0] for dtype in (np.float32, np.float64))
    for name, array in flatten(params).items():
        np.testing.assert_array_equal(flatten(again)[name], array)
        np.testing.assert_array_equal(flatten(wide)[name], array)
        assert flatten(wide)[name].dtype == np.float64
    records = [
        {"step": 0, "loss": 3.7, "lesson": 0, "right": None},
        {"step": 1, "loss": 2.5, "lesson": 1, "right": 0.75},
    ]
    save_curve(tmp_path / "curve.csv", records)
    curve = {name: column.tolist() for name, column in load_curve(tmp_path / "curve.csv").items()}
    assert curve == {"loss": [3.7, 2.5], "lesson": [0, 1], "exam": [1], "right": [0.75]}


def test_a_missing_a_damaged_and_a_strange_file_are_told_apart_with_the_way_out(tmp_path):
    remedy = "run `python -m transformer_block.train_tiny`$"
    with pytest.raises(FileNotFoundError, match=f"none.npz is missing: {remedy}"):
        load_tiny(tmp_path / "none.npz")
    (tmp_path / "cut.npz").write_bytes(WEIGHTS.read_bytes()[:5000])
    with pytest.raises(ValueError, match=f"cut.npz is damaged or no npz file: {remedy}"):
        load_tiny(tmp_path / "cut.npz")
    np.savez(tmp_path / "strange.npz", embedding=np.ones((3, 2)))
    with pytest.raises(ValueError, match=f"strange.npz holds the weights of another.*: {remedy}"):
        load_tiny(tmp_path / "strange.npz")
