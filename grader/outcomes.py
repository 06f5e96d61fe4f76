"""What marking one submission gave, and how a class's outcomes are told."""

import json
import sys
from dataclasses import asdict, dataclass, field

GRADED, FAILED, NOT_SUBMITTED = "graded", "failed", "not submitted"

WIDE = 1000  # columns: in a file or a pipe no line of the table is wrapped


@dataclass(frozen=True)
class Outcome:
    """The marks of one student for one sheet.

    Parameters
    ----------
    student : str
        The student's id.
    status : str
        ``"graded"``, ``"failed"`` (there is a submission, it could not be marked), or
        ``"not submitted"``, which is not the same as no points.
    remark : str
        What an instructor should know, in words.
    points, max_points : float, optional
        Sum over the cells marked automatically, and what could be had; only when graded.
    waiting : dict
        Answers to be marked by hand, with what each could give.
    marks : dict
        Points of each cell marked automatically; ``None`` where a cell is missing.
    """

    student: str
    status: str
    remark: str = ""
    points: float | None = None
    max_points: float | None = None
    waiting: dict = field(default_factory=dict)
    marks: dict = field(default_factory=dict)

    @property
    def row(self):
        """The outcome as the four columns of the table."""
        points = "–" if self.points is None else f"{self.points:g} of {self.max_points:g}"
        waiting = ", ".join(f"{cell} ({most:g})" for cell, most in self.waiting.items())
        words = [] if self.status == GRADED else [self.status]
        return self.student, points, waiting, ": ".join([*words, self.remark])


def as_json(assignment, outcomes):
    """Write the outcomes of a class as JSON."""
    facts = {"assignment": assignment, "students": [asdict(outcome) for outcome in outcomes]}
    return json.dumps(facts, indent=1, ensure_ascii=False)


def print_table(assignment, outcomes):
    """Print the outcomes of a class as a table, one student a line."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("student", "points", "by hand", "remark"):
        table.add_column(heading, justify="right" if heading == "points" else "left")
    for outcome in outcomes:
        table.add_row(*map(Text, outcome.row))  # Text: a name such as [red] is no markup
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    console.print(table)
    console.print(f"{assignment}: {_summary(outcomes)}", highlight=False)


def _summary(outcomes):
    """Count a class: "5 graded, 1 failed, 2 not submitted"."""
    count = dict.fromkeys((GRADED, FAILED, NOT_SUBMITTED), 0)
    for outcome in outcomes:
        count[outcome.status] += 1
    return (
        ", ".join(f"{number} {status}" for status, number in count.items() if number)
        or "no students"
    )
