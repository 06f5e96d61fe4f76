"""Course folders: made whole, released by nbgrader itself, brought up to date without harm."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from grader import cli

REPOSITORY = Path(__file__).resolve().parent.parent
SHEETS = sorted(sheet.stem for sheet in (REPOSITORY / "solutions").glob("*.md"))
NOTEBOOKS = {sheet: REPOSITORY / "notebooks" / f"{sheet}.ipynb" for sheet in SHEETS}
pytestmark = pytest.mark.marking


def run_grader(*words):
    """Run the command without an activated environment: nothing of it is on PATH."""
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, words)],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        cwd=REPOSITORY,
        check=False,
    )


def cells_in_gradebook(course):
    """Return points by grade id, read from the database without nbgrader."""
    query = (
        "SELECT base_cell.name, grade_cells.max_score FROM base_cell"
        " JOIN grade_cells ON grade_cells.id = base_cell.id"
    )
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        return dict(database.execute(query))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course made in a path with a space and an ñ, and what the command said."""
    folder = tmp_path_factory.mktemp("años y cursos") / "otoño 1"
    return folder, run_grader("course", folder)


@pytest.fixture
def course(made, tmp_path):
    """A copy of that course to work with."""
    return shutil.copytree(made[0], tmp_path / "una copia")


def test_the_command_says_what_is_ready_and_where_submissions_go(made):
    folder, run = made
    assert run.returncode == 0
    assert run.stderr == ""
    place = folder / "submitted" / "STUDENT" / SHEETS[0]
    assert run.stdout == f"{folder}: {', '.join(SHEETS)} ready; put submissions into {place}\n"


def test_a_course_holds_nbgraders_folders_and_nothing_else(made):
    files = {str(path.relative_to(made[0])) for path in made[0].rglob("*")}
    folders = {"source", "release", "submitted", "autograded", "feedback"}
    made_of_sheets = {
        f"{step}/{sheet}{file}"
        for step in ("source", "release")
        for sheet in SHEETS
        for file in ("", f"/{sheet}.ipynb")
    }
    assert files == {*folders, *made_of_sheets, "gradebook.db", "nbgrader_config.py"}


def test_the_release_is_the_learners_notebook_byte_for_byte(made):
    for sheet, notebook in NOTEBOOKS.items():
        released = made[0] / "release" / sheet / notebook.name
        assert released.read_bytes() == notebook.read_bytes()


def test_the_source_holds_the_answers(made):
    assert b"### BEGIN SOLUTION" in (made[0] / "source/rmsnorm/rmsnorm.ipynb").read_bytes()


def test_the_gradebook_knows_every_graded_cell_and_its_points(made):
    cells = [c for file in NOTEBOOKS.values() for c in json.loads(file.read_text())["cells"]]
    meta = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    assert cells_in_gradebook(made[0]) == {
        m["grade_id"]: m["points"] for m in meta if m.get("grade")
    }


def test_nothing_in_a_course_tells_where_or_by_whom_it_was_made(made):
    private = re.compile(rb"/home/|/root|/tmp|" + str(REPOSITORY).encode())
    told = [p for p in made[0].rglob("*") if p.is_file() and private.search(p.read_bytes())]
    assert told == []


def test_a_second_course_in_the_same_place_is_refused(made, capsys):
    assert cli.main(["course", str(made[0])]) == 2
    assert capsys.readouterr().err == (
        f"{made[0]} is not an empty folder: name a new one or bring it up to date with --update\n"
    )


@pytest.fixture
def changed(tmp_path):
    """A repository whose sheet can be changed: ``changed(old, new)`` returns its root."""
    root = tmp_path / "repository"
    shutil.copytree(REPOSITORY / "solutions", root / "solutions")

    def change(old, new):
        sheet = root / "solutions" / "rmsnorm.md"
        text = sheet.read_text("utf-8")
        assert old in text
        sheet.write_text(text.replace(old, new, 1), "utf-8")
        return root

    return change


def hand_in(course, student="ana"):
    """Put the untouched notebook into a student's folder."""
    folder = course / "submitted" / student / "rmsnorm"
    folder.mkdir(parents=True)
    shutil.copy(NOTEBOOKS["rmsnorm"], folder)
    return folder / "rmsnorm.ipynb"


def test_an_update_brings_new_points_and_text_and_keeps_submissions(course, changed):
    before = hand_in(course).read_bytes()
    assert run_grader("grade", course, "rmsnorm").returncode == 0
    root = changed(
        ":claim: rmsnorm_forward value\n:points: 8", ":claim: rmsnorm_forward value\n:points: 5"
    )
    assert run_grader("course", course, "--update", "--root", root).returncode == 0
    assert cells_in_gradebook(course)["rmsnorm_forward-value"] == 5
    assert '"points": 5' in (course / "release/rmsnorm/rmsnorm.ipynb").read_text("utf-8")
    assert (course / "submitted/ana/rmsnorm/rmsnorm.ipynb").read_bytes() == before


def test_an_update_that_would_lose_marks_is_refused_before_anything_is_written(course, changed):
    hand_in(course)
    run_grader("grade", course, "rmsnorm")
    source = (course / "source/rmsnorm/rmsnorm.ipynb").read_bytes()
    root = changed("```{code-cell} ipython3\n:claim: rmsnorm_forward eps\n:points: 6\n```\n", "")
    run = run_grader("course", course, "--update", "--root", root)
    assert run.returncode == 2
    assert run.stderr == (
        "rmsnorm has marks in the gradebook and other cells now (rmsnorm_forward-eps): "
        "make a new course folder for it\n"
    )
    assert (course / "source/rmsnorm/rmsnorm.ipynb").read_bytes() == source
