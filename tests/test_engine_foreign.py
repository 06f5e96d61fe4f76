"""A course that others made: the one of nbgrader's own documentation, marked as nbgrader does."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import nbgrader
import pytest

from grader.course import Course
from grader.grading import mark_all

DOCS = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
SETTINGS = 'c = get_config()\nc.CourseDirectory.course_id = "demo"\n'
pytestmark = pytest.mark.marking


def make_course(folder):
    for step in ("source", "release", "submitted"):
        shutil.copytree(DOCS / step / "ps1", folder / step / "ps1") if step != "submitted" else (
            shutil.copytree(DOCS / step, folder / step)
        )
    (folder / "nbgrader_config.py").write_text(SETTINGS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return mark_all(Course.open(make_course(tmp_path_factory.mktemp("theirs"))), "ps1")


def test_plain_nbgrader_gives_the_same_marks(marked, tmp_path):
    folder = make_course(tmp_path / "plain")
    programs = Path(sys.executable).parent
    paths = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}  # for alembic
    for words in (["generate_assignment", "ps1", "--force"], ["autograde", "ps1"]):
        command = [programs / "nbgrader", *words]
        subprocess.run(command, cwd=folder, capture_output=True, check=True, env=paths)
    query = (
        "SELECT submitted_assignment.student_id, notebook.name, base_cell.name, grade.auto_score"
        " FROM grade JOIN base_cell ON base_cell.id = grade.cell_id"
        " JOIN notebook ON notebook.id = base_cell.notebook_id"
        " JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id"
        " JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
    )
    with closing(sqlite3.connect(folder / "gradebook.db")) as database:
        theirs = {tuple(row[:3]): row[3] for row in database.execute(query)}
    ours = {
        (record.student, cell.notebook, cell.name): cell.points
        for record in marked.records
        for cell in record.cells
    }
    assert ours == theirs


def test_a_test_that_looks_at_what_does_not_cross_is_run_inside_and_named(marked):
    inside = {c.name for record in marked.records for c in record.cells if not c.trusted}
    assert inside == {"sum_of_squares_uses_squares"}
    assert marked.troubles == [
        "sum_of_squares_uses_squares looks at what does not leave the sandbox: it runs inside"
    ]


def test_both_notebooks_are_autograded(marked, tmp_path):
    assert {cell.notebook for record in marked.records for cell in record.cells} == {
        "problem1",
        "problem2",
    }
