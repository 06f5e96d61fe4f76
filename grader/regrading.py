"""Marking again after a correction: who has changed, by how much, and what a person gave stays."""

import json
from dataclasses import asdict, dataclass

from grader.files import write_whole
from grader.gradebook import read_marks
from grader.gradebook.marks import BY_HAND
from grader.records import FAILED


@dataclass(frozen=True)
class Change:
    """What marking again changed for one student.

    Parameters
    ----------
    student : str
        Whose marks they are.
    before, after : float or None
        Points so far; ``None`` before a first mark.
    cells : dict
        By the cell's key: points before and after, where they differ.
    """

    student: str
    before: float | None
    after: float | None
    cells: dict


@dataclass(frozen=True)
class Regraded:
    """What marking a class again gave.

    Parameters
    ----------
    changes : list of Change
        Sorted by student; who has not changed is not in it.
    marked : int
        How many students were marked again.
    kept : int
        How many marks by hand stand as they were.
    review : list of (str, str)
        Student and cell of each mark or comment by hand whose answer has changed.
    failed : list of str
        Students who could not be marked.
    stopped : bool
        Whether it was stopped before the end.
    """

    changes: list
    marked: int
    kept: int
    review: list
    failed: list
    stopped: bool


def regrade(course, assignment, mark_all, students=None, db=None):
    """Mark a class again and compare.

    What stood before is kept in the course folder until the end, so that a run that was stopped
    can be gone on with and still tells every change.

    Parameters
    ----------
    course : Course
        The course folder, with the corrected master.
    assignment : str
        The sheet.
    mark_all : callable
        Takes course, assignment and students; marks all of them, stores the marks, and returns
        an object with ``records`` and ``stopped``.
    students : list of str, optional
        Only these.
    db : str, optional
        URL of another database than the one that the course's settings name.

    Returns
    -------
    regraded : Regraded
        What has changed since the regrading began.
    """
    path = course.folder / "records" / assignment / ".before-regrade"
    before = _remembered(path) or _points(read_marks(course, assignment, db))
    write_whole(path, json.dumps(before).encode())
    marked = mark_all(course, assignment, students)
    marks = read_marks(course, assignment, db)
    after = _points(marks)
    done = {record.student: record for record in marked.records}
    if not marked.stopped:
        path.unlink()
    return Regraded(
        changes=[change for student in sorted(done) if (change := _change(student, before, after))],
        marked=len(done),
        kept=sum(
            mark.by_hand is not None and not mark.waiting
            for student in done
            for mark in marks.get(student, {}).values()
        ),
        review=[
            (student, note.cell)
            for student, record in sorted(done.items())
            for note in record.notes
            if note.kind == BY_HAND
        ],
        failed=sorted(name for name, record in done.items() if record.status == FAILED),
        stopped=marked.stopped,
    )


def _remembered(path):
    """Return what stood before a regrading that was stopped; nothing if there was none."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def _points(marks):
    """Return the points that count, by student and cell."""
    return {
        student: {key: mark.points for key, mark in cells.items()}
        for student, cells in marks.items()
    }


def _change(student, before, after):
    """Compare one student's points; nothing if they are the same."""
    old, new = before.get(student, {}), after.get(student, {})
    cells = {
        key: (old.get(key), new.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)
    }
    return Change(student, _sum(old), _sum(new), cells) if cells else None


def _sum(points):
    return sum(value or 0 for value in points.values()) if points else None


def as_json(assignment, regraded):
    """Write what was changed as JSON."""
    return json.dumps({"assignment": assignment, **asdict(regraded)}, indent=1, ensure_ascii=False)
