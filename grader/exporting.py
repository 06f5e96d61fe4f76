"""Marks as tables: one column a question, and what Canvas and Moodle read.

Not handed in, not marked yet, and no points are three things, and stay three things: only a mark
is a number, everything else is an empty cell and a word in the column ``status``.
"""

import csv
import json
import re
from pathlib import Path

from grader.errors import UsageError
from grader.records import GRADED

FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a spreadsheet would compute


def table(standings):
    """Return the marks of a class: a header, and a row for each student.

    Parameters
    ----------
    standings : list of Standing
        The class.

    Returns
    -------
    rows : list of list of str
        Student, status, when; a column for each question; points so far, what could be had,
        what being late costs, and the total, which is empty while anything is open.
    """
    questions = {c.key: None for s in standings for c in s.record.cells}
    header = ["student", "status", "submitted", *questions, "points", "of", "penalty", "total"]
    return [header, *(_row(standing, questions) for standing in standings)]


def _row(standing, questions):
    record = standing.record
    marks = {cell.key: standing.mark(cell) for cell in record.cells}
    graded = record.status == GRADED
    return [
        _plain(record.student),
        standing.status,
        record.submitted or "",
        *(_number(marks[key].points if key in marks else None) for key in questions),
        _number(standing.points),
        _number(record.max_points if graded else None),
        _number(standing.penalty if graded else None),
        _number(standing.total),
    ]


def _number(points):
    """Write a number as short as it is exact; nothing for ``None``."""
    return "" if points is None else f"{round(points, 6):g}"


def _plain(text):
    """Keep a spreadsheet from computing a name."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def fill_canvas(roster, assignment, standings, numbers):
    """Fill a sheet's column in the table that Canvas exports from its gradebook.

    Parameters
    ----------
    roster : list of list of str
        Canvas's table: ``Student``, ``ID``, … and a column for each assignment.
    assignment : str
        The sheet, which is the column's name, case and Canvas's number behind it aside.
    standings : list of Standing
        The class.
    numbers : dict
        Canvas's numbers of students, as ``collect`` noted them.

    Returns
    -------
    rows : list of list of str
        Canvas's columns that name a student, and the sheet's.
    left : list of str
        Students with a total whom no row fits.

    Raises
    ------
    UsageError
        If the table is none of Canvas's, or has not just one such column.
    """
    header = roster[0] if roster else []
    names = [c for c in ("Student", "ID", "SIS User ID", "SIS Login ID", "Section") if c in header]
    columns = [c for c in header if re.sub(r" \(\d+\)$", "", c).lower() == assignment.lower()]
    if "ID" not in names or len(columns) != 1:
        raise UsageError(
            f"wants Canvas's own export with the columns ID and {assignment}: "
            f"it has {', '.join(header) or 'none'}"
        )
    people = _People(standings, numbers, ("SIS Login ID", "SIS User ID", "Student"), "ID")
    rows = [[*names, columns[0]]]
    for line in roster[1:]:
        cells = dict(zip(header, line, strict=False))
        is_person = (cells["ID"] or "").strip().isdigit()
        mark = people.total(cells) if is_person else cells.get(columns[0], "")
        rows.append([cells.get(name, "") for name in names] + [mark])
    return rows, people.left


def fill_moodle(roster, assignment, standings, numbers):
    """Fill the column ``Grade`` of the grading worksheet that Moodle gives for an assignment.

    Parameters
    ----------
    roster : list of list of str
        Moodle's table: ``Identifier``, ``Full name``, …, ``Grade``, ``Maximum Grade``.
    assignment : str
        The sheet.
    standings : list of Standing
        The class.
    numbers : dict
        Moodle's numbers of students, as ``collect`` noted them.

    Returns
    -------
    rows : list of list of str
        The table with the grades filled in; the other columns are as they were.
    left : list of str
        Students with a total whom no row fits.

    Raises
    ------
    UsageError
        If the table is none of Moodle's, or Moodle counts to another maximum.
    """
    header = roster[0] if roster else []
    if not {"Identifier", "Grade"} <= set(header):
        raise UsageError("wants Moodle's grading worksheet, with the columns Identifier and Grade")
    people = _People(
        standings, numbers, ("Full name", "Username", "ID number", "Email address"), "Identifier"
    )
    most = max((s.record.max_points for s in standings), default=0)
    rows = [header]
    for line in roster[1:]:
        cells = dict(zip(header, line, strict=False))
        mark = people.total(cells)
        _same_maximum(cells, assignment, most if mark else None)
        rows.append([mark if c == "Grade" and mark else cells.get(c, "") for c in header])
    return rows, people.left


def _same_maximum(cells, assignment, most):
    """Refuse to fill in marks that Moodle would read on another scale."""
    theirs = (cells.get("Maximum Grade") or "").replace(",", ".")
    if most is not None and re.fullmatch(r"[\d.]+", theirs) and float(theirs) != most:
        raise UsageError(
            f"{assignment} has {most:g} points and Moodle counts to {float(theirs):g}: "
            f"set its maximum to {most:g}"
        )


class _People:
    """Find students in the rows of a learning system, by its number or by a name."""

    def __init__(self, standings, numbers, names, number):
        self.totals = {s.record.student: s.total for s in standings if s.total is not None}
        self.by_number = {user: student for student, user in numbers.items()}
        self.names, self.number = names, number
        self.left = sorted(self.totals)

    def total(self, cells):
        """Return the total of the student in a row as a text; empty if there is none."""
        number = (cells.get(self.number) or "").removeprefix("Participant ").strip()
        found = [self.by_number.get(number), *(cells.get(name) for name in self.names)]
        student = next((name for name in found if name in self.totals), None)
        if student in self.left:
            self.left.remove(student)
        return _number(self.totals.get(student))


def numbers_of(course, assignment, system):
    """Return a learning system's numbers of students: for Canvas, of all sheets collected."""
    numbers = {}
    for path in sorted((course.folder / "collected").glob("*.json")):
        if system == "moodle" and path.stem != assignment:
            continue  # Moodle counts anew for each assignment
        for student, facts in json.loads(path.read_text("utf-8"))["students"].items():
            if facts["system"] == system:
                numbers[student] = facts["user"]
    return numbers


def read_table(path):
    """Read a CSV table as it is, or ``UsageError`` if it is none."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error) as trouble:
        raise UsageError(f"{path} is no CSV table in UTF-8: {trouble}") from trouble


def write_table(rows, file):
    """Write a table as CSV."""
    csv.writer(file, lineterminator="\n").writerows(rows)
