"""The verb ``regrade``: mark again after a test was corrected, and say who has changed."""

import sys

from grader.verbs import Verb, add_db, add_json, add_sheet, open_sheet
from grader.verbs.grade import add_way, add_workers, progress, warn_of_limits


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument(
        "--student", action="append", metavar="ID", help="this student only; may be repeated"
    )
    add_workers(parser)
    add_way(parser)
    add_db(parser)
    add_json(parser)


def _run(options):
    from grader import regrading
    from grader.grading import Way, mark_all

    course = open_sheet(options)
    warn_of_limits(options)
    way = Way(options.workers, options.sandbox, True, options.time_limit, options.db)

    def mark(course, assignment, students):
        with progress(assignment) as watch:
            return mark_all(course, assignment, students, way, watch)

    regraded = regrading.regrade(course, options.assignment, mark, options.student, options.db)
    if options.json:
        print(regrading.as_json(options.assignment, regraded))
    else:
        _tell(options.assignment, regraded)
    for student in regraded.failed:
        print(f"{student} could not be marked: see grade", file=sys.stderr)
    if regraded.stopped:
        print("stopped: the same command marks the others and tells all changes", file=sys.stderr)
    return int(regraded.stopped or bool(regraded.failed))


def _tell(assignment, regraded):
    """Print a line for each student who has changed, then the sum."""
    for change in regraded.changes:
        cells = ", ".join(
            f"{key} {_points(old)} → {_points(new)}" for key, (old, new) in change.cells.items()
        )
        by = (change.after or 0) - (change.before or 0)
        print(
            f"{change.student}: {_points(change.before)} → {_points(change.after)} "
            f"({by:+g}): {cells}"
        )
    for student, cell in regraded.review:
        print(f"{student}: {cell} was marked by hand, and the answer is another now: look again")
    print(
        f"{assignment}: {len(regraded.changes)} of {regraded.marked} students changed, "
        f"{regraded.kept} marks by hand kept"
    )


def _points(points):
    return "–" if points is None else f"{points:g}"


VERB = Verb("mark again after a test was corrected, and say who has changed", _arguments, _run)
