"""What marking one submission gave: a record, kept as one JSON file before any database sees it.

A record is a fact sheet. The gradebook, the table on the terminal, feedback, reports and exports
are all made from records, and from nothing else.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.files import json_lines, write_whole

VERSION = 1
GRADED, FAILED, NOT_SUBMITTED = "graded", "failed", "not submitted"

# What became of one graded cell.
PASSED, WRONG, UNTOUCHED, TIMED_OUT, CRASHED, WAITING = (
    "passed",
    "wrong",
    "untouched",
    "timed out",
    "crashed",
    "waiting",  # for a mark by hand
)


@dataclass(frozen=True)
class Note:
    """Something about a submission that its instructor should know.

    Parameters
    ----------
    kind : str
        A word for counting, such as ``"duplicate"``, ``"edited test"``, ``"renamed file"``.
    cell : str or None
        The grade id of the cell that it concerns.
    text : str
        One sentence: what was found, and what was done about it.
    """

    kind: str
    cell: str | None
    text: str


@dataclass(frozen=True)
class CellRecord:
    """What became of one graded cell of the master.

    Parameters
    ----------
    name : str
        Its grade id.
    label : str
        What it claims, in public words.
    outcome : str
        One of the words above.
    points : float or None
        Points won; ``None`` while a mark by hand is awaited.
    max_points : float
        Points that can be won, from the master.
    sentence : str
        What the learner is told; never a hidden input or a wanted value of one.
    mistakes : tuple of str
        Names from the catalogue of mistakes that fit the failure.
    answer : str
        A digest of the answers that this cell judges: equal digests, same answer.
    seconds : float
        Time that judging it took.
    trusted : bool
        Whether it ran outside the student's sandbox.
    notebook : str
        Which notebook of the assignment; empty for the one that is named like the assignment.
    by_hand : bool
        Whether it is marked by hand, whatever its outcome.
    """

    name: str
    label: str
    outcome: str
    points: float | None
    max_points: float
    sentence: str = ""
    mistakes: tuple[str, ...] = ()
    answer: str = ""
    seconds: float = 0.0
    trusted: bool = True
    notebook: str = ""
    by_hand: bool = False

    @property
    def key(self):
        """Its name within the assignment: ``"value"``, or ``"problem1/value"``."""
        return _key(self)


@dataclass(frozen=True)
class AnswerRecord:
    """One answer that a learner was asked for, tested or marked by hand.

    Parameters
    ----------
    name : str
        Its grade id.
    digest : str
        A digest of its source: equal digests, same answer.
    untouched : bool
        Whether it is as it was handed out.
    notebook : str
        Which notebook of the assignment; empty for the one that is named like the assignment.
    """

    name: str
    digest: str
    untouched: bool = False
    notebook: str = ""

    @property
    def key(self):
        """Its name within the assignment, as a graded cell's."""
        return _key(self)


def _key(cell):
    return f"{cell.notebook}/{cell.name}" if cell.notebook else cell.name


@dataclass(frozen=True)
class Record:
    """What marking one student's submission of one sheet gave.

    Parameters
    ----------
    student, assignment : str
        Whose, and which sheet.
    status : str
        ``"graded"``, ``"failed"`` (handed in, and not readable as this sheet), or
        ``"not submitted"``, which is not the same as no points.
    remark : str
        One line for the table: the first thing that an instructor should know.
    cells : tuple of CellRecord
        The graded cells in the master's order; empty unless graded.
    notes : tuple of Note
        Everything that was found and mended.
    answers : tuple of AnswerRecord
        The answers in the master's order; empty unless graded.
    submission, master : str
        SHA-256 of the bytes handed in, and of the master that judged them.
    submitted : str or None
        When it was handed in: ISO 8601 with its offset.
    seconds : float
        Time that the whole marking took.
    """

    student: str
    assignment: str
    status: str
    remark: str = ""
    cells: tuple[CellRecord, ...] = ()
    notes: tuple[Note, ...] = ()
    answers: tuple[AnswerRecord, ...] = ()
    submission: str = ""
    master: str = ""
    submitted: str | None = None
    seconds: float = 0.0

    @property
    def points(self):
        """Sum of the points won so far; ``None`` unless graded."""
        if self.status != GRADED:
            return None
        return sum(cell.points or 0 for cell in self.cells)

    @property
    def max_points(self):
        """Sum of what the graded cells can give."""
        return sum(cell.max_points for cell in self.cells)


def record_path(course_folder, assignment, student):
    """Return where a student's record is kept in a course folder."""
    return Path(course_folder, "records", assignment, f"{student}.json")


def write_record(course_folder, record):
    """Keep a record on disk, whole or not at all, even if the computer stops in the middle."""
    facts = {"version": VERSION, **asdict(record)}
    path = record_path(course_folder, record.assignment, record.student)
    write_whole(path, json_lines(facts))


def read_record(path):
    """Read a record; ``ValueError`` if the file is none, or of another version."""
    try:
        facts = json.loads(Path(path).read_text("utf-8"))
        if facts.pop("version") != VERSION:
            raise ValueError("another version")
        return _record(**facts)
    except (ValueError, TypeError, KeyError, AttributeError) as trouble:
        raise ValueError(
            f"{path} is no record of version {VERSION}: mark this student again"
        ) from trouble


def _record(cells, notes, answers, **facts):
    """Make a record from what JSON holds of it."""
    return Record(
        cells=tuple(CellRecord(**{**cell, "mistakes": tuple(cell["mistakes"])}) for cell in cells),
        notes=tuple(Note(**note) for note in notes),
        answers=tuple(AnswerRecord(**answer) for answer in answers),
        **facts,
    )


def read_records(course_folder, assignment):
    """Return the records of a sheet, sorted by student."""
    found = Path(course_folder, "records", assignment).glob("*.json")
    return sorted((read_record(path) for path in found), key=lambda record: record.student)
