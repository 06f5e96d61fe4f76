"""Where each student stands: the record, what markers entered, and what being late costs."""

from dataclasses import dataclass, field

from grader import late
from grader.gradebook import Mark, read_marks, read_students
from grader.records import GRADED, NOT_SUBMITTED, Record, read_records

WAITING = "waiting for a marker"


@dataclass(frozen=True)
class Standing:
    """One student's standing in one sheet.

    Parameters
    ----------
    record : Record
        What marking gave.
    marks : dict
        What the gradebook holds now, `Mark` by the cell's key.
    penalty : float
        Points lost by being late.
    """

    record: Record
    marks: dict = field(default_factory=dict)
    penalty: float = 0.0

    @property
    def status(self):
        """The record's status, or that a marker has to look at an answer first."""
        graded = self.record.status == GRADED
        waits = graded and any(self.mark(cell).waiting for cell in self.record.cells)
        return WAITING if waits else self.record.status

    def mark(self, cell):
        """Return the mark that counts for a cell: the gradebook's, else the record's."""
        return self.marks.get(cell.key) or Mark(cell.points, waiting=cell.points is None)

    @property
    def points(self):
        """Points so far, by checks and by hand; ``None`` unless there is something marked."""
        if self.record.status != GRADED:
            return None
        return sum(self.mark(cell).points or 0 for cell in self.record.cells)

    @property
    def total(self):
        """Points less the penalty, once nothing is waiting; ``None`` before."""
        if self.status != GRADED:
            return None
        return max(0.0, self.points - self.penalty)


def standings(course, assignment, db=None):
    """Return where every student of a course stands, sorted by student.

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
    standings : list of Standing
        Students whom only the gradebook knows have handed in nothing.
    """
    records = {record.student: record for record in read_records(course.folder, assignment)}
    for student in read_students(course, db):
        records.setdefault(student, Record(student, assignment, NOT_SUBMITTED))
    marks = read_marks(course, assignment, db)
    policy = late.read_policy(course.folder)
    return [
        Standing(record, marks.get(student, {}), policy.penalty(record) if policy else 0.0)
        for student, record in sorted(records.items())
    ]
