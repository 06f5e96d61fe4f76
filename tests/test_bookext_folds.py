"""The book's folds: questions get addresses and are listed, answers come from the sheets."""

import shutil
import subprocess
import sys
from textwrap import dedent

import pytest
from bookext.answers import answers_text
from bookext.claims import COLUMNS, claims_text, figures_text
from pages import ROOT

from grader.checks.rmsnorm import EXERCISES as RMSNORM

SETTINGS = """
PARTS = ["questions", "answers", "claims"]
extensions = ["myst_parser", "sphinx_design"] + ["bookext." + part for part in PARTS]
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
        subprocess.run(command, check=True, env=paths, timeout=300)
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


def test_the_claims_of_a_sheet_are_listed_with_what_they_say():
    text = claims_text("rmsnorm")
    for exercise in RMSNORM:
        assert f"::::{{dropdown}} {exercise.name}" in text
        for item in (*exercise.claims.values(), *exercise.mistakes):
            assert f">{item.name}</code> | " in text.replace("<wbr>", "")


def test_no_sign_in_a_question_becomes_markup(build):
    page = "# Claims\n\n```{claims} rmsnorm\n```\n"
    html = build(index=page)["index"]
    assert html.count("<details") == len(RMSNORM)
    assert "Does a line write" not in html  # a judge's question belongs to no exercise
    assert "Is your ε inside the square root, next to the mean square?" in html


def test_the_figures_of_exercises_add_up_to_those_of_their_sheet_and_of_all():
    row = dict.fromkeys(COLUMNS, 7)
    scores = {"rmsnorm": {"half_rms": row, "normalize_vjp": row}, "residual_stream": {"pre": row}}
    lines = figures_text(scores).splitlines()
    assert lines[2].startswith("| sheet | claims | mistakes | right answers")
    assert "| rmsnorm | 14 | 14 | 14 | 14 | 14 | 14 | 14 |" in lines
    assert "| residual stream | 7 | 7 | 7 | 7 | 7 | 7 | 7 |" in lines
    assert "| **all together** | 21 | 21 | 21 | 21 | 21 | 21 | 21 |" in lines
    assert '| <code class="literal">half_<wbr>rms</code> | 7 | 7 | 7 | 7 | 7 | 7 | 7 |' in lines
