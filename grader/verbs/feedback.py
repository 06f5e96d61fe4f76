"""The verb ``feedback``: one page for each student."""

from grader.verbs import Verb, add_db, add_sheet, open_sheet


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument(
        "--student", action="append", metavar="ID", help="for this student only; may be repeated"
    )
    add_db(parser)


def _run(options):
    from grader.feedback import write_feedback

    course = open_sheet(options)
    paths = write_feedback(course, options.assignment, options.student, options.db)
    place = course.folder / "feedback" / "STUDENT" / options.assignment
    print(f"{len(paths)} pages written: {place / options.assignment}.html")
    return 0


VERB = Verb("write one safe page for each student", _arguments, _run)
