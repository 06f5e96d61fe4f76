"""The verbs of ``python -m grader``; what a verb needs is imported when it runs."""

import argparse
import difflib
import sys
from pathlib import Path

from grader.errors import UsageError, UserError
from grader.verbs import Verb, check, collect, doctor, export, feedback, grade, regrade, report

ROOT = Path(__file__).resolve().parent.parent


def _build_arguments(parser):
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a notebook is not up to date"
    )
    _add_root(parser)


def _build(options):
    from grader import authoring

    if options.check:
        return _report_stale(authoring.stale_notebooks(options.root), options.root)
    for path in authoring.write_notebooks(options.root):
        print(f"wrote {path.relative_to(options.root)}")
    return 0


def _report_stale(stale, root):
    """Name each notebook that is not what its sheet gives, and the next step."""
    for path in stale:
        sheet = f"solutions/{path.stem}.md"
        reason = f"differs from {sheet}" if (root / sheet).exists() else f"there is no {sheet}"
        step = "run: python -m grader build" if (root / sheet).exists() else "delete it"
        print(f"{path.relative_to(root)}: {reason}; {step}", file=sys.stderr)
    if not stale:
        print("all notebooks are up to date")
    return 1 if stale else 0


def _course_arguments(parser):
    parser.add_argument("folder", metavar="DIR", type=Path, help="where the course shall be")
    parser.add_argument(
        "--update",
        action="store_true",
        help="bring the sheets of an existing course up to date; submissions and marks stay",
    )
    _add_root(parser)


def _course(options):
    from grader import course

    make = course.update_course if options.update else course.make_course
    sheets = make(options.folder, options.root)
    print(
        f"{options.folder}: {', '.join(sheets)} ready; put submissions into "
        f"{options.folder / 'submitted' / 'STUDENT' / sheets[0]}"
    )
    return 0


VERBS = {
    "build": Verb("make the learners' notebooks from the sheets", _build_arguments, _build),
    "course": Verb("make a course folder for nbgrader", _course_arguments, _course),
    "collect": collect.VERB,
    "grade": grade.VERB,
    "regrade": regrade.VERB,
    "feedback": feedback.VERB,
    "report": report.VERB,
    "export": export.VERB,
    "check": check.VERB,
    "doctor": doctor.VERB,
}


class _Parser(argparse.ArgumentParser):
    """Tell a wrong argument in one line, with the next step."""

    def error(self, message):
        raise UsageError(f"{message}; see: {self.prog} --help")


def _add_root(parser):
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="the repository of the course (default: this one)"
    )


def _parser():
    parser = _Parser(prog="python -m grader", description="Make, hand out and mark the sheets.")
    verbs = parser.add_subparsers(metavar="VERB", dest="verb", required=True)
    for name, verb in VERBS.items():
        verb.arguments(verbs.add_parser(name, help=verb.about, description=verb.about))
    return parser


def _check_verb(words):
    """Raise ``UsageError`` for a missing or unknown verb, naming the nearest."""
    verb = words[0] if words else None
    if verb is None:
        raise UsageError(f"which verb? {', '.join(VERBS)}; see: python -m grader --help")
    if verb not in VERBS and not verb.startswith("-"):
        near = difflib.get_close_matches(verb, VERBS, n=1) or VERBS
        raise UsageError(
            f"there is no verb {verb!r}: did you mean {' or '.join(near)}? "
            "See: python -m grader --help"
        )


def main(words=None):
    """Run one verb and return the exit code: 0 all well, 1 something failed, 2 used wrongly."""
    words = sys.argv[1:] if words is None else words
    try:
        _check_verb(words)
        options = _parser().parse_args(words)
        return VERBS[options.verb].run(options)
    except UserError as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except ModuleNotFoundError as trouble:
        print(
            f"{trouble.name} is missing: install the grader with: pip install '.[grader]'",
            file=sys.stderr,
        )
        return 1
    except OSError as trouble:
        print(f"{trouble.filename or 'grader'}: {trouble.strerror or trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 1
