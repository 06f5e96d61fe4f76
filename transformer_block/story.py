"""Stories that ask for what they told: a small seeded grammar, the text of the tiny model.

``Tom is in the barn, is Tom. Mia is in the mill, is Mia. Where is Tom? Tom is in the barn, is
Tom.`` The letters before an answer do not tell it: ``Tom is in the`` may go on with any place.
What does tell stands before the question, and only attention carries it from there.
"""

from dataclasses import dataclass

# The first letters of each list differ, so that one letter, once carried over, tells the word.
NAMES = ("Ann", "Ben", "Cat", "Dan", "Eve", "Gus", "Ida", "Joe", "Leo", "Mia", "Sam", "Tom")
PLACES = ("attic", "barn", "cave", "den", "field", "garden", "house", "inn", "kitchen", "lake",
          "mill", "shop")  # fmt: skip
SENTENCE = ("{name}", " i", "s", " i", "n", " t", "h", "e", " ", "{place}", ",", " is", " ",
            "{name}", ".")  # fmt: skip
QUESTION = (" Where", " is {name}", "?", " ")
N_FACTS = (2, 3)  # a story tells so many
N_ASKED = 4  # and asks so often, for any of them
HELD_OUT = 8  # one story in so many is kept from training

# What each lesson adds to the shorthand "TbT MmM?MmM": a piece of the sentence, a piece of the
# question, or one more letter of a word.
LESSONS = (
    ("place", 2), ("place", 3), ("sentence", 10), ("sentence", 8), ("name", 2), ("name", 3),
    ("place", 4), ("sentence", 12), ("sentence", 14), ("question", 3), ("sentence", 5),
    ("sentence", 6), ("sentence", 7), ("place", 5), ("sentence", 11), ("sentence", 3),
    ("sentence", 4), ("question", 0), ("place", 6), ("sentence", 1), ("sentence", 2),
    ("place", 7), ("question", 1),
)  # fmt: skip
ALL = len(LESSONS)


@dataclass(frozen=True)
class Story:
    """A story, and what a reader may check it by.

    Attributes
    ----------
    text : str
        One line that ends in a newline.
    facts : tuple
        Pairs (name, place), as they are written and in the order in which they are told.
    asked : tuple of int
        Which fact each question is about.
    spans : tuple
        A pair (start, stop) for each question: ``text[start:stop]`` is the place in its answer,
        and ``text[:start]`` all that can tell which one.
    """

    text: str
    facts: tuple
    asked: tuple
    spans: tuple


def alphabet():
    """Return every character that a story can have, in the order of their codes.

    Returns
    -------
    characters : str
        Each character once; the newline, which ends a story, is the first.
    """
    pieces = "".join(SENTENCE + QUESTION)
    text = pieces.format(name="".join(NAMES), place="".join(PLACES))
    return "".join(sorted(set(text + "\n")))


def tell_story(rng, n_facts=None, lesson=ALL, held_out=False):
    """Make one story: a few facts, and questions about them with their answers.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws names, places and questions.
    n_facts : int, optional
        How many facts; ``None`` draws one of `N_FACTS`.
    lesson : int
        How many of `LESSONS` the writer had: from 0, ``TbT MmM?MmM``, to all of them, which
        gives whole sentences.
    held_out : bool
        One story in `HELD_OUT` is of the kind that training never sees. ``True`` gives one of
        these, ``False`` one of the others.

    Returns
    -------
    story : Story
        No name and no place comes in two facts.
    """
    n_facts = int(rng.choice(N_FACTS)) if n_facts is None else n_facts
    while True:
        names, places = (rng.permutation(len(words))[:n_facts] for words in (NAMES, PLACES))
        if held_out == is_held_out(names, places):
            break
    facts = [(NAMES[n], PLACES[p]) for n, p in zip(names, places, strict=True)]
    return write_story(facts, rng.integers(n_facts, size=N_ASKED).tolist(), lesson)


def is_held_out(names, places):
    """Tell whether a story is kept from training: a rule by all its facts, not by a pair.

    Parameters
    ----------
    names : sequence of int
        Their numbers in `NAMES`, in the order of the facts.
    places : sequence of int
        Theirs in `PLACES`.

    Returns
    -------
    held_out : bool
        True for about one arrangement in eight.
    """
    pairs = enumerate(zip(names, places, strict=True), start=1)
    return sum(i * (n + 5 * p) for i, (n, p) in pairs) % HELD_OUT == 0


def write_story(facts, asked, lesson=ALL):
    """Write down a story of given facts.

    Parameters
    ----------
    facts : sequence
        Pairs (name, place).
    asked : sequence of int
        The fact that each question is about.
    lesson : int
        As in `tell_story`.

    Returns
    -------
    story : Story
        With the facts as they are written.
    """
    had = LESSONS[:lesson]
    sentence, question = _pieces("sentence", SENTENCE, had), _pieces("question", QUESTION, had)
    before = sentence[: sentence.index("{place}")]
    facts = tuple((_short("name", name, had), _short("place", place, had)) for name, place in facts)
    text, spans = " ".join(_fill(sentence, fact) for fact in facts), []
    for fact in (facts[i] for i in asked):
        text += _fill(question, fact)
        start = len(text + _fill(before, fact))
        spans.append((start, start + len(fact[1])))
        text += _fill(sentence, fact)
    return Story(text + "\n", facts, tuple(asked), tuple(spans))


def _pieces(kind, pieces, had):
    """Keep the pieces that were had in a lesson; some are always there."""
    always = ("{name}", "{place}", "?")
    return [p for i, p in enumerate(pieces) if p in always or (kind, i) in had]


def _short(kind, word, had):
    """Cut a word to as many letters as were had in lessons: one at first."""
    return word[: max([1, *(n for what, n in had if what == kind)])]


def _fill(pieces, fact):
    """Write pieces with the words of a fact."""
    return "".join(pieces).format(name=fact[0], place=fact[1])
