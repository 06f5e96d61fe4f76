"""The records of a class as a table for people and as JSON for programs."""

import json
import sys
from dataclasses import asdict

from grader.names import shown
from grader.records import FAILED, GRADED, NOT_SUBMITTED, WAITING

WIDE = 1000  # columns: in a file or a pipe no line of the table is wrapped


def automatic(record):
    """Return the cells of a record that no person marks."""
    return [cell for cell in record.cells if not cell.by_hand]


def waiting(record, marks):
    """Return what each answer that waits for a marker could give.

    Parameters
    ----------
    record : Record
        What marking gave.
    marks : dict
        What the gradebook holds of the student, `Mark` by the cell's key.
    """
    return {
        cell.key: cell.max_points
        for cell in record.cells
        if (marks[cell.key].waiting if cell.key in marks else cell.outcome == WAITING)
    }


def row(record, marks):
    """Return the four columns of the table."""
    points = "–"
    if record.status == GRADED:
        cells = automatic(record)
        won, most = sum(c.points for c in cells), sum(c.max_points for c in cells)
        points = f"{won:g} of {most:g}"
    by_hand = ", ".join(f"{cell} ({most:g})" for cell, most in waiting(record, marks).items())
    words = [] if record.status == GRADED else [record.status]
    return record.student, points, by_hand, ": ".join([*words, record.remark])


def facts_of(record, marks):
    """Return what JSON tells of a record: the sums of the table, and everything else."""
    cells = automatic(record)
    graded = record.status == GRADED
    return asdict(record) | {
        "points": sum(cell.points for cell in cells) if graded else None,
        "max_points": sum(cell.max_points for cell in cells) if graded else None,
        "marks": {cell.key: cell.points for cell in cells},
        "waiting": waiting(record, marks),
    }


def as_json(assignment, records, marks):
    """Write the records of a class as JSON; of each student's marks, only who waits is told."""
    students = [facts_of(record, marks.get(record.student, {})) for record in records]
    facts = {"assignment": assignment, "students": students}
    return json.dumps(facts, indent=1, ensure_ascii=False)


def print_table(assignment, records, marks):
    """Print the records of a class as a table, one student a line.

    Parameters
    ----------
    assignment : str
        The sheet.
    records : list of Record
        The class.
    marks : dict
        What the gradebook holds: by student, `Mark` by the cell's key.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("student", "points", "by hand", "remark"):
        table.add_column(heading, justify="right" if heading == "points" else "left")
    for record in records:
        columns = row(record, marks.get(record.student, {}))
        table.add_row(*(Text(shown(part)) for part in columns))  # Text: [red] is no markup
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    console.print(table)
    console.print(f"{assignment}: {_summary(records)}", highlight=False)


def _summary(records):
    """Count a class: "5 graded, 1 failed, 2 not submitted"."""
    count = dict.fromkeys((GRADED, FAILED, NOT_SUBMITTED), 0)
    for record in records:
        count[record.status] += 1
    return (
        ", ".join(f"{number} {status}" for status, number in count.items() if number)
        or "no students"
    )
