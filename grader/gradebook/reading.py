"""What the gradebook says of a class: marks, those given by hand included, and comments."""

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import select

from grader.gradebook.connecting import transaction
from grader.gradebook.tables import (
    ASSIGNMENTS,
    CELLS,
    COMMENTS,
    GRADES,
    NOTEBOOKS,
    STUDENTS,
    SUBMISSIONS,
    SUBMITTED,
)


@dataclass(frozen=True)
class Mark:
    """What stands in the gradebook for one cell of one student.

    Parameters
    ----------
    automatic, by_hand, extra : float or None
        Points from the checks, from a marker, and on top of either.
    waiting : bool
        Whether a marker shall look at it, for the first time or again.
    comment : str
        What a marker wrote about the answer.
    """

    automatic: float | None = None
    by_hand: float | None = None
    extra: float | None = None
    waiting: bool = False
    comment: str = ""

    @property
    def points(self):
        """The points that count now; ``None`` while there is no mark at all."""
        points = self.automatic if self.by_hand is None else self.by_hand
        return None if points is None else points + (self.extra or 0)


def read_marks(course, assignment, db=None):
    """Read the marks and the markers' comments of a sheet.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    db : str, optional
        URL of another database than the one that the course's settings name.

    Returns
    -------
    marks : dict
        By student: a dict of `Mark` by the cell's key, as in `CellRecord`. A comment on an answer
        that is not graded itself stands under the answer's key.
    """
    marks = defaultdict(dict)
    with transaction(course, db) as connection:
        columns = (GRADES.c.auto_score, GRADES.c.manual_score, GRADES.c.extra_credit)
        for student, key, *facts in _rows(
            connection, assignment, GRADES, (*columns, GRADES.c.needs_manual_grade)
        ):
            marks[student][key] = Mark(*facts)
        for student, key, text in _rows(
            connection, assignment, COMMENTS, (COMMENTS.c.manual_comment,)
        ):
            if text:
                mark = marks[student].get(key, Mark())
                marks[student][key] = Mark(
                    mark.automatic, mark.by_hand, mark.extra, mark.waiting, text
                )
    return dict(marks)


def read_students(course, db=None):
    """Return the ids of all students in the gradebook, sorted."""
    with transaction(course, db) as connection:
        return sorted(connection.scalars(select(STUDENTS.c.id)))


def _rows(connection, assignment, table, columns):
    """Yield the student, the cell's key and the columns of every row of an assignment."""
    query = (
        select(SUBMISSIONS.c.student_id, NOTEBOOKS.c.name, CELLS.c.name, *columns)
        .select_from(table)
        .join(CELLS, CELLS.c.id == table.c.cell_id)
        .join(SUBMITTED, SUBMITTED.c.id == table.c.notebook_id)
        .join(NOTEBOOKS, NOTEBOOKS.c.id == SUBMITTED.c.notebook_id)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == SUBMITTED.c.assignment_id)
        .join(ASSIGNMENTS, ASSIGNMENTS.c.id == SUBMISSIONS.c.assignment_id)
        .where(ASSIGNMENTS.c.name == assignment)
    )
    for student, notebook, cell, *facts in connection.execute(query):
        yield student, cell if notebook == assignment else f"{notebook}/{cell}", *facts
