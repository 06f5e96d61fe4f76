"""Marking of one submission by nbgrader's own autograde. This module runs in the worker."""

import collections
import json

from nbclient.exceptions import DeadKernelError
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import Execute

from grader.course import PATTERN_CHARACTERS, SILENT
from grader.outcomes import FAILED, GRADED, NOT_SUBMITTED, Outcome


class _Autograde(Autograde):
    """Keep the error that nbgrader only writes to its log."""

    trouble = None

    def convert_single_notebook(self, notebook_filename):
        try:
            super().convert_single_notebook(notebook_filename)
        except Exception as trouble:
            self.trouble = trouble
            raise


def known_students(course):
    """Return the ids of the students in the gradebook."""
    with course.gradebook() as gradebook:
        return [student.id for student in gradebook.students]


def mark(course, assignment, student):
    """Mark one student's submission, whatever it may be.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    student : str
        The student's id, which is the name of a folder in ``submitted/``.

    Returns
    -------
    outcome : Outcome
        Marks as they stand in the gradebook now, or why there are none.
    """
    path = course.notebook("submitted", student, assignment)
    if not path.is_file():
        return Outcome(student, NOT_SUBMITTED, _what_is_there(path))
    try:
        reason = _why_unmarkable(student, path.read_bytes())
        reason = reason or _why_not_marked(course, assignment, student)
        if not reason:
            return _read_marks(course, assignment, student)
    except Exception as trouble:  # whatever it is, it is this student's alone
        reason = in_words(trouble)
    return Outcome(student, FAILED, reason)


def _what_is_there(path):
    """Say what a folder without the notebook holds."""
    found = sorted(other.name for other in path.parent.glob("*"))
    return f"no {path.name} among {', '.join(found)}" if found else "nothing handed in"


def _why_unmarkable(student, data):
    """Say why nbgrader would fail on a submission; nothing if there is no reason."""
    if PATTERN_CHARACTERS & set(student):
        bad = " ".join(sorted(PATTERN_CHARACTERS))
        return f"nbgrader cannot mark a folder with any of {bad} in its name: rename it"
    try:
        cells = json.loads(data.decode("utf-8"))["cells"]
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    except UnicodeDecodeError:
        return "not a readable notebook: not in UTF-8"
    except json.JSONDecodeError as trouble:
        return f"not a readable notebook: broken at line {trouble.lineno}, it may be cut off"
    except (KeyError, TypeError, AttributeError):
        return "not a readable notebook: it has no list of cells (a format before 4?)"
    twice = [name for name, count in collections.Counter(ids).items() if name and count > 1]
    if twice:
        return f"more than one cell is {' and is '.join(twice)}: delete the copies"
    return "" if cells else "not a readable notebook: it has no cells"


def _why_not_marked(course, assignment, student):
    """Run nbgrader's autograde and say why it failed; nothing if it did not."""
    autograde = _Autograde(
        coursedir=course.directory(assignment, student),
        config=course.config,
        force=True,
        log=SILENT,
    )
    try:
        autograde.start()
    except NbGraderException as failure:
        return in_words(autograde.trouble or failure)
    return ""


def in_words(trouble):
    """Tell an error in one line."""
    if isinstance(trouble, DeadKernelError):
        return "the notebook's kernel died while running it"
    text = str(trouble).strip().splitlines()
    return f"{type(trouble).__name__}: {text[0]}" if text else type(trouble).__name__


def _read_marks(course, assignment, student):
    """Read a student's marks from the gradebook, and what there is to say about them."""
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(assignment, assignment, student)
        automatic = [grade for grade in submission.grades if grade.cell.cell_type == "code"]
        by_hand = [grade for grade in submission.grades if grade.needs_manual_grade]
        comments = [comment.auto_comment for comment in submission.comments]
        marks = {grade.name: grade.auto_score for grade in automatic}
        return Outcome(
            student,
            GRADED,
            _remark(course, assignment, student, marks, comments),
            points=sum(points or 0 for points in marks.values()),
            max_points=sum(grade.max_score for grade in automatic),
            waiting={grade.name: grade.max_score for grade in by_hand},
            marks=marks,
        )


def _remark(course, assignment, student, marks, comments):
    """Say which answers were not touched, timed out, are missing, or gave no points."""
    if comments and all(comment == "No response." for comment in comments):
        return f"all {len(comments)} answers untouched"
    endless = _timed_out(course.notebook("autograded", student, assignment))
    parts = {
        f"timed out after {Execute(config=course.config).timeout} s": endless,
        "missing from the notebook": [cell for cell, points in marks.items() if points is None],
        "no points": [cell for cell, points in marks.items() if points == 0],
    }
    return "; ".join(f"{what}: {_listed(cells)}" for what, cells in parts.items() if cells)


def _listed(names, most=4):
    """List names, the first few in full."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _timed_out(path):
    """Return the names of the cells that ran out of time, in a notebook that nbgrader wrote."""
    cells = json.loads(path.read_bytes())["cells"]
    return [
        cell["metadata"].get("nbgrader", {}).get("grade_id", f"cell {number}")
        for number, cell in enumerate(cells, start=1)
        if any(out.get("ename") == "CellTimeoutError" for out in cell.get("outputs", []))
    ]
