"""Stories ask only what they told, and what is held out never comes up in training."""

import re
from itertools import pairwise

import numpy as np
import pytest

from transformer_block import story as grammar
from transformer_block.story import LESSONS, alphabet, is_held_out, tell_story, write_story
from transformer_block.tokenizer import CharacterTokenizer

TOLD = re.compile(r"(\w+) is in the (\w+), is (\w+)\.")
ASKED = re.compile(r"Where is (\w+)\? (\w+) is in the (\w+), is (\w+)\.")


@pytest.fixture(scope="module")
def stories():
    rng = np.random.default_rng(0)
    return [tell_story(rng) for _ in range(400)]


def read(text):
    """Read a story as a person would: who is where, and question and answer in turn."""
    told, question, asked = text.partition(" Where")
    facts = {name: place for name, place, again in TOLD.findall(told) if name == again}
    return facts, ASKED.findall(question + asked)


def test_every_answer_is_what_the_story_told(stories):
    for story in stories:
        facts, answers = read(story.text)
        assert list(facts.items()) == [*story.facts]
        assert len(facts) in grammar.N_FACTS
        assert len(answers) == len(story.asked) == len(story.spans) == grammar.N_ASKED
        for (asked, who, place, again), i in zip(answers, story.asked, strict=True):
            assert asked == who == again == story.facts[i][0]
            assert place == facts[asked]


def test_nothing_else_stands_in_a_story(stories):
    for story in stories:
        assert re.sub(f"{ASKED.pattern}|{TOLD.pattern}", "", story.text).strip(" ") == "\n"


def test_a_span_is_the_place_that_is_asked_for_and_the_question_stands_before_it(stories):
    for story in stories:
        for (start, stop), i in zip(story.spans, story.asked, strict=True):
            name, place = story.facts[i]
            assert story.text[start:stop] == place
            assert story.text[:start].endswith(f" Where is {name}? {name} is in the ")


def test_no_name_and_no_place_comes_in_two_facts(stories):
    for story in stories:
        for column in zip(*story.facts, strict=True):
            assert len(set(column)) == len(column)


def test_every_pair_of_name_and_place_comes_and_every_fact_is_asked_for(stories):
    more = [tell_story(np.random.default_rng(seed)) for seed in range(1000)]
    pairs = {fact for story in more for fact in story.facts}
    assert len(pairs) == len(grammar.NAMES) * len(grammar.PLACES)
    three = [story.asked for story in more if len(story.facts) == 3]
    counts = np.bincount(np.array(three).ravel(), minlength=3)
    assert np.all(np.abs(counts / counts.sum() - 1 / 3) < 0.05)


def kind(story):
    names, places = zip(*story.facts, strict=True)
    numbers = [grammar.NAMES.index(n) for n in names], [grammar.PLACES.index(p) for p in places]
    return is_held_out(*numbers)


def test_held_out_stories_are_those_that_no_other_draw_gives(stories):
    rng = np.random.default_rng(1)
    held_out = [tell_story(rng, held_out=True) for _ in range(400)]
    assert all(kind(story) for story in held_out)
    assert not any(kind(story) for story in stories)
    assert not {s.facts for s in held_out} & {s.facts for s in stories}


def test_one_arrangement_in_eight_is_held_out_and_no_pair_is():
    rng = np.random.default_rng(2)
    drawn = [[rng.permutation(12)[:3] for _ in range(2)] for _ in range(4000)]
    assert np.mean([is_held_out(*pair) for pair in drawn]) == pytest.approx(1 / 8, abs=0.02)
    held_out = [tell_story(rng, held_out=True) for _ in range(1000)]
    assert len({fact for story in held_out for fact in story.facts}) == 144


@pytest.mark.parametrize("column", ["NAMES", "PLACES"])
def test_one_letter_tells_the_words_of_a_column_apart(column):
    words = getattr(grammar, column)
    assert len({word[0] for word in words}) == len(words) == 12


def test_the_first_shorthand_and_the_last_are_what_the_page_says():
    facts, asked = [("Tom", "barn"), ("Mia", "mill")], [1, 0]
    assert write_story(facts, asked, 0).text == "TbT MmM?MmM?TbT\n"
    assert write_story(facts, asked).text == (
        "Tom is in the barn, is Tom. Mia is in the mill, is Mia."
        " Where is Mia? Mia is in the mill, is Mia. Where is Tom? Tom is in the barn, is Tom.\n"
    )


def test_every_lesson_adds_to_the_shorthand_and_leaves_the_rest_in_order():
    facts, asked = [("Sam", "kitchen"), ("Ida", "garden")], [1, 0, 0]
    texts = [write_story(facts, asked, n).text for n in range(len(LESSONS) + 1)]
    for short, long in pairwise(texts):
        rest = iter(long)
        assert len(short) < len(long)
        assert all(character in rest for character in short)  # a subsequence


@pytest.mark.parametrize("lesson", range(len(LESSONS) + 1))
def test_spans_are_right_in_every_lesson(lesson):
    story = tell_story(np.random.default_rng(lesson), lesson=lesson)
    for (start, stop), i in zip(story.spans, story.asked, strict=True):
        assert story.text[start:stop] == story.facts[i][1]


def test_one_seed_tells_one_text(stories):
    rng = np.random.default_rng(0)
    assert [tell_story(rng) for _ in range(400)] == stories


def test_the_alphabet_is_what_stories_are_made_of_and_a_newline_ends_each(stories):
    many = "".join(tell_story(np.random.default_rng(seed)).text for seed in range(300))
    assert set(many) == set(alphabet())
    assert len(set(alphabet())) == len(alphabet())
    assert all(s.text.endswith(".\n") and s.text.count("\n") == 1 for s in stories)


def test_text_comes_back_from_its_ids(stories):
    tokenizer, text = CharacterTokenizer(alphabet()), stories[0].text
    ids = tokenizer.encode(text)
    assert ids.shape == (len(text),)
    assert tokenizer.decode(ids) == text
    assert np.unique(tokenizer.encode(alphabet())).tolist() == [*range(len(tokenizer))]
    assert tokenizer.encode("").shape == (0,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: CharacterTokenizer("ab").encode("abba?!"),
            r"the text must be made of 'ab': got '!\?' too",
        ),
        (lambda: CharacterTokenizer("aba"), r"each character may come once: got 'aba'"),
        (
            lambda: CharacterTokenizer("ab").decode([0, 2]),
            r"ids must lie in the vocabulary, 0 to V-1 = 1: got 0 to 2",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
