"""What the command can do: one module a verb, which imports what it needs when it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Verb:
    """One thing the command can do.

    Parameters
    ----------
    about : str
        One line for the help.
    arguments : callable
        Adds its arguments to a parser.
    run : callable
        Takes the parsed arguments, does the work, returns the exit code.
    """

    about: str
    arguments: Callable
    run: Callable


def add_sheet(parser):
    """Let a verb ask for a course folder and a sheet."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="the course folder")
    parser.add_argument("assignment", metavar="SHEET", help="which sheet: rmsnorm, …")


def add_db(parser):
    """Let a verb take another gradebook than the course's settings name."""
    parser.add_argument(
        "--db", metavar="URL", help="the gradebook's database, such as postgresql+psycopg://HOST/DB"
    )


def add_json(parser):
    """Let a verb print JSON."""
    parser.add_argument("--json", action="store_true", help="print the same facts as JSON")


def open_sheet(options):
    """Open the course folder that was named; ``UsageError`` unless it has the sheet."""
    from grader.course import Course

    course = Course.open(options.folder)
    course.require_assignment(options.assignment)
    return course
