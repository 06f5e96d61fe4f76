"""Every sheet: its solved notebook gets full marks, its submissions the marks that were stated.

The cells are run in this process, one after the other, as a kernel would run them; whole runs
through nbgrader are in ``test_grading.py``.
"""

import json
from pathlib import Path

import matplotlib
import nbformat
import pytest

from grader import authoring

ROOT = Path(__file__).parents[1]
STATED = sorted((ROOT / "tests" / "submissions").glob("*/marks.json"))
SUBMISSIONS = [
    pytest.param(file.parent / f"{name}.ipynb", marks, id=f"{file.parent.name}-{name}")
    for file in STATED
    for name, marks in json.loads(file.read_text("utf-8")).items()
]


@pytest.fixture(autouse=True)
def no_windows():
    matplotlib.use("agg")


@pytest.fixture(autouse=True)
def no_weights(monkeypatch, tmp_path):
    """Let no sheet find the real model: its run is tested by itself, where it is at hand."""
    monkeypatch.setenv("TRANSFORMER_BLOCK_CACHE", str(tmp_path))


def marks_of(notebook):
    """Run all code cells and return the points of each graded one."""
    namespace, marks = {}, {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        passed = runs(cell.source, namespace)
        graded = cell.metadata.get("nbgrader", {})
        if graded.get("grade"):
            marks[graded["grade_id"]] = graded["points"] if passed else 0
    return marks


def runs(source, namespace):
    """Tell whether a cell ends without an exception."""
    try:
        exec(compile(source, "<cell>", "exec"), namespace)
    except Exception:
        return False
    return True


@pytest.mark.parametrize(("file", "stated"), SUBMISSIONS)
def test_a_submission_gets_the_marks_that_were_stated(file, stated):
    assert marks_of(nbformat.read(file, as_version=4)) == stated


@pytest.mark.parametrize("sheet", authoring.sheets(ROOT), ids=lambda sheet: sheet.stem)
def test_the_solved_notebook_gets_full_marks_and_the_sheet_is_worth_100(sheet):
    solved = authoring.master(sheet)
    points = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in solved.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    by_hand = [c for c in solved.cells if c.cell_type == "markdown" and "nbgrader" in c.metadata]
    written = {cell.metadata.nbgrader.grade_id for cell in by_hand}
    assert sum(points.values()) == 100
    assert marks_of(solved) == {name: p for name, p in points.items() if name not in written}


@pytest.mark.parametrize("sheet", authoring.sheets(ROOT), ids=lambda sheet: sheet.stem)
def test_the_untouched_notebook_gets_nothing(sheet):
    file = ROOT / "notebooks" / f"{sheet.stem}.ipynb"
    assert not any(marks_of(nbformat.read(file, as_version=4)).values())
