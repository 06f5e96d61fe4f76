"""The book's folds: questions get addresses and are listed, answers come from the sheets."""

import shutil
import subprocess
import sys
from textwrap import dedent

import pytest
from bookext.answers import answers_text
from pages import ROOT

SETTINGS = """
extensions = ["myst_parser", "sphinx_design", "bookext.questions", "bookext.answers"]
myst_enable_extensions = ["colon_fence"]
"""
EXAMPLE = ROOT / "tests/data/example_sheet.md"


@pytest.fixture
def build(tmp_path):
    """Build pages with questions and answers, and return their HTML by name."""
    (tmp_path / "conf.py").write_text(SETTINGS)
    (tmp_path / "solutions").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "solutions/rmsnorm.md")

    source, target = tmp_path / "source", tmp_path / "html"
    source.mkdir()

    def run(**pages):
        for name, text in pages.items():
            (source / f"{name}.md").write_text(dedent(text))
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", tmp_path, source, target]
        paths = {"PYTHONPATH": f"{ROOT / 'book/_ext'}:{ROOT}"}
        subprocess.run(command, check=True, env=paths, timeout=60)
        return {name: (target / f"{name}.html").read_text() for name in pages}

    return run


CONTENTS = """\
    # First

    ```{toctree}
    norm
    ```

    ```{questions}
    ```
    """
NORM = """\
    # The norm

    :::{dropdown} Why *one* root?
    The root is in the name.
    :::

    :::{dropdown} A statement
    No question.
    :::
    """


def test_a_question_has_an_address_and_is_listed_under_its_page(build):
    html = build(index=CONTENTS, norm=NORM)
    assert html["norm"].count('id="question-') == 1
    assert (
        '<details class="sd-sphinx-override sd-dropdown sd-card sd-mb-3" id="question-why'
        in (html["norm"])
    )
    link = '<a class="reference internal" href="norm.html#question-why-one-root">Why <em>one</em>'
    assert link in html["index"]
    assert '<p class="rubric">The norm</p>' in html["index"]
    assert "A statement" not in html["index"]


def test_the_list_follows_a_page_that_changes(build):
    build(index=CONTENTS, norm=NORM)
    html = build(norm=NORM.replace("one", "another"), index=CONTENTS)
    assert "norm.html#question-why-another-root" in html["index"]
    assert "question-why-one-root" not in html["index"]


def test_each_exercise_is_a_fold_with_its_answers():
    text = answers_text(EXAMPLE)
    titles = [line for line in text.splitlines() if line.startswith("::::{dropdown}")]
    assert titles[0] == "::::{dropdown} Exercise 1 · The forward pass"
    assert titles[1] == "::::{dropdown} Exercise 2 · The backward pass"
    assert "    dnormalized = dout * weight" in text
    assert "SOLUTION" not in text


def test_an_answer_from_the_library_shows_the_first_line_of_its_docstring():
    text = answers_text(EXAMPLE)
    assert "(22.2)." in text
    assert "Parameters" not in text


def test_the_answers_stand_on_the_page(build):
    page = "# Answers\n\n```{sheet-answers} rmsnorm\n```\n"
    html = build(index=page)["index"]
    assert html.count("<details") == html.count("Exercise ") == 3
    assert "dnormalized" in html
