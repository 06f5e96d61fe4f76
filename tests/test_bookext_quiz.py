"""The quizzes: a mistake in a file is named, pages hold the answers as text, each page has one."""

import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
import yaml
from bookext.quiz import SCRIPTS, STYLES, QuizError, read_questions
from pages import ROOT, page_names

SETTINGS = """
extensions = ["myst_parser", "bookext.formulas", "bookext.quiz"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "katex"
html_theme = "basic"
"""
PAGE = "# Page\n\n```{quiz} roots\n```\n"
ROOTS = """\
- question: What is $\\sqrt{4}$, in *one* word?
  answers:
    - answer: Two
      correct: true
      feedback: For $2^2 = 4$.
    - answer: Four
      feedback: That is its square.
    - answer: "`None`"
      feedback: Every number has one.
"""
QUIZZES = sorted((ROOT / "book/quizzes").glob("*.yml"))
PAGES_WITH_A_SHEET = [
    name
    for name in page_names()
    if (ROOT / name.replace("book/", "solutions/")).with_suffix(".md").exists()
]


@pytest.fixture
def build(tmp_path):
    """Build two pages, one with a quiz: gives the exit code, what was said, and both pages."""
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "conf.py").write_text(SETTINGS, encoding="utf-8")
    source, target = tmp_path / "source", tmp_path / "html"
    (tmp_path / "book/quizzes").mkdir(parents=True)
    source.mkdir()
    (source / "index.md").write_text(PAGE)
    (source / "other.md").write_text("---\norphan: true\n---\n\n# Other\n")

    def run(quiz):
        (tmp_path / "book/quizzes/roots.yml").write_text(dedent(quiz), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-c", tmp_path, source, target],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT / "book/_ext")},
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        html = {name: (target / f"{name}.html").read_text("utf-8") for name in ("index", "other")}
        return SimpleNamespace(said=done.stderr, **html)

    return run


def test_a_page_holds_questions_answers_and_reasons_as_text(build):
    built = build(ROOTS)
    assert built.said == ""
    assert "in <em>one</em> word?" in built.index
    assert built.index.count('<span class="katex-html"') == 2
    assert built.index.count("<dt>") == 2
    assert '<dt class="quiz-correct">Two</dt><dd><p><strong>Right.</strong> For' in "".join(
        line.strip() for line in built.index.splitlines()
    )
    assert built.index.count("<strong>Not quite.</strong>") == 2


def test_only_the_page_with_a_quiz_loads_what_a_quiz_needs(build):
    built = build(ROOTS)
    for file in (*STYLES, *SCRIPTS):
        assert built.index.count(f'_static/{file}"') == 1
        assert file not in built.other


def test_a_page_is_built_again_when_its_quiz_changes(build):
    build(ROOTS)
    assert "That is its square root" in build(ROOTS.replace("square.", "square root.")).index


def test_a_file_with_a_mistake_gives_one_warning_with_page_and_question(build):
    built = build(ROOTS.replace("correct: true", "correct: false"))
    assert built.said.count("WARNING") == 1
    assert "index.md:3: WARNING: book/quizzes/roots.yml: question 1: one answer must" in built.said
    assert "Two" not in built.index


SECOND = ROOTS.replace("$\\sqrt{4}$", "that")
FAULTS = {
    "no YAML": ROOTS + "  - question: [",
    "question 2: one answer must have `correct: true`: got 0": ROOTS
    + SECOND.replace("      correct: true\n", ""),
    "question 2: one answer must have `correct: true`: got 2": ROOTS
    + SECOND.replace("answer: Four", "answer: Four\n      correct: true"),
    "question 1: answer 2 has no `feedback` in words": ROOTS.replace(
        "      feedback: That is its square.\n", ""
    ),
    "question 1: answer 1 has no `answer` in words": ROOTS.replace("answer: Two", "answer: 2"),
    "question 1: answer 2 must be one paragraph": ROOTS.replace(
        "answer: Four", 'answer: "4\\n\\n4"'
    ),
    "question 1: answer 2 needs a word beside its formula": ROOTS.replace(
        "answer: Four", "answer: $4$."
    ),
    "question 1: it needs 3 or 4 answers: got 1": ROOTS[: ROOTS.index("    - answer: Four")],
    "question 1: it needs a `question` and": ROOTS.replace("- question:", "- ask:"),
    "a quiz is a list of questions": "question: What?",
}


@pytest.mark.parametrize("said", FAULTS)
def test_each_mistake_in_a_file_is_named(tmp_path, said):
    file = tmp_path / "roots.yml"
    file.write_text(FAULTS[said], encoding="utf-8")
    with pytest.raises(QuizError) as caught:
        read_questions(file)
    assert str(caught.value).startswith(said)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(QuizError, match="no such file"):
        read_questions(tmp_path / "roots.yml")


@pytest.mark.parametrize("name", PAGES_WITH_A_SHEET)
def test_every_page_with_a_sheet_has_a_quiz_of_two_to_four_questions(name):
    concept = name.removeprefix("book/")
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    assert f"## Test yourself\n\n```{{quiz}} {concept}\n```\n" in text
    assert 2 <= len(read_questions(ROOT / f"book/quizzes/{concept}.yml")) <= 4


def test_every_quiz_belongs_to_a_page():
    pages = {name.removeprefix("book/") for name in page_names()}
    assert {file.stem for file in QUIZZES} <= pages


@pytest.mark.parametrize("file", QUIZZES, ids=lambda file: file.stem)
def test_the_place_of_the_right_answer_tells_nothing(file):
    questions = yaml.safe_load(file.read_text(encoding="utf-8"))
    places = [[a.get("correct", False) for a in q["answers"]].index(True) for q in questions]
    assert len(set(places)) > 1, places
