"""The verb ``export``: marks as a table."""

import io
import sys
from pathlib import Path

from grader.errors import UsageError
from grader.verbs import Verb, add_db, add_sheet, open_sheet


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument("--to", metavar="FILE", type=Path, help="write here, not to the terminal")
    parser.add_argument("--for", dest="system", choices=("canvas", "moodle"), help="fill its table")
    parser.add_argument(
        "--roster",
        metavar="CSV",
        type=Path,
        help="its own table: Canvas's gradebook export, Moodle's grading worksheet",
    )
    add_db(parser)


def _run(options):
    from grader import exporting
    from grader.files import write_whole
    from grader.standing import standings

    course = open_sheet(options)
    if bool(options.system) != bool(options.roster):
        raise UsageError("--for and --roster go together: which system, and its own table")
    everyone = standings(course, options.assignment, options.db)
    left = []
    if options.system:
        fill = {"canvas": exporting.fill_canvas, "moodle": exporting.fill_moodle}[options.system]
        numbers = exporting.numbers_of(course, options.assignment, options.system)
        roster = exporting.read_table(options.roster)
        try:
            rows, left = fill(roster, options.assignment, everyone, numbers)
        except UsageError as trouble:
            raise UsageError(f"{options.roster}: {trouble}") from trouble
    else:
        rows = exporting.table(everyone)
    text = io.StringIO()
    exporting.write_table(rows, text)
    if options.to:
        write_whole(options.to, text.getvalue().encode())
    else:
        sys.stdout.write(text.getvalue())
    return _report(left, everyone)


def _report(left, everyone):
    """Name who has no mark in the table, and why."""
    for student in left:
        print(f"{student} is not in the roster", file=sys.stderr)
    for standing in everyone:
        if standing.total is None:
            print(f"{standing.record.student}: {standing.status}", file=sys.stderr)
    return int(bool(left))


VERB = Verb("write the marks as a table, one column a question", _arguments, _run)
