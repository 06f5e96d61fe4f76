"""The verb ``grade``: mark all submissions of a sheet."""

import contextlib
import sys

from grader.engine.jail import AUTO, LIMITS
from grader.names import shown
from grader.verbs import Verb, add_db, add_json, add_sheet, open_sheet

UNPROTECTED = (
    "--sandbox=limits: students' code runs with bounds on time and memory only. It can read your "
    "files and use the network. Marks are still decided out of its reach."
)


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument(
        "--student", action="append", metavar="ID", help="mark this student only; may be repeated"
    )
    add_workers(parser)
    parser.add_argument(
        "--again", action="store_true", help="mark also what was marked with the same bytes before"
    )
    add_way(parser)
    add_db(parser)
    add_json(parser)


def add_workers(parser):
    """Let a verb choose how many submissions are marked at a time."""
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="submissions at a time (default: processors)"
    )


def add_way(parser):
    """Let a verb choose the sandbox and the time limit."""
    parser.add_argument(
        "--sandbox",
        choices=(AUTO, LIMITS),
        default=AUTO,
        help="limits: without walls, where this computer has none (see doctor)",
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds for one cell (default: the course's)"
    )


def _count(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _run(options):
    from grader.grading import Way, mark_all
    from grader.records import FAILED
    from grader.table import as_json, print_table

    course = open_sheet(options)
    warn_of_limits(options)
    way = Way(options.workers, options.sandbox, options.again, options.time_limit, options.db)
    with progress(options.assignment) as watch:
        marked = mark_all(course, options.assignment, options.student, way, watch)
    from grader.gradebook import read_marks  # while nothing is marked yet, it would only delay that

    marks = read_marks(course, options.assignment, options.db)
    show = (lambda *facts: print(as_json(*facts))) if options.json else print_table
    show(options.assignment, marked.records, marks)
    _tell(marked)
    failed = any(record.status == FAILED for record in marked.records)
    return int(marked.stopped or failed or bool(marked.refused))


def warn_of_limits(options):
    """Say loudly what is not protected without walls."""
    if options.sandbox == LIMITS:
        print(UNPROTECTED, file=sys.stderr)


def _tell(marked):
    """Say what is not in the table."""
    for name, reason in marked.refused.items():
        print(f"submitted/{shown(name):.60} was not marked: {reason}", file=sys.stderr)
    for trouble in marked.troubles:
        print(f"the tests: {trouble}", file=sys.stderr)
    if marked.stopped:
        print(
            f"stopped: {len(marked.records)} of {marked.asked} students marked; "
            "the same command goes on with the others",
            file=sys.stderr,
        )


@contextlib.contextmanager
def progress(assignment):
    """Show on a terminal how far the marking is, and how long it will take."""
    with contextlib.ExitStack() as stack:
        yield lambda total: _bar(assignment, total, stack)


def _bar(assignment, total, stack):
    """Open a bar, where there is a terminal; return what moves it on."""
    if not sys.stderr.isatty():
        return lambda record: None
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    bar = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task(f"marking {assignment}", total=total)
    return lambda record: bar.advance(task)


VERB = Verb("mark all submissions of a sheet", _arguments, _run)
