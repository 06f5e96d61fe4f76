"""The verb ``check``: what a learner or a CI job runs on a notebook."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from grader.verbs import Verb, add_json

ROOT = Path(__file__).resolve().parents[2]


def _arguments(parser):
    parser.add_argument("notebook", metavar="NOTEBOOK", type=Path, help="the notebook to check")
    parser.add_argument(
        "--time-limit", type=float, metavar="S", default=30.0, help="seconds for one cell"
    )
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="the repository of the course (default: this one)"
    )
    add_json(parser)


def _run(options):
    from grader.checking import check_notebook

    checked = check_notebook(options.notebook, options.root, options.time_limit)
    if options.json:
        facts = asdict(checked.record) | {"warnings": checked.warnings, "holds": checked.holds}
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        _tell(checked.record)
    for warning in checked.warnings:
        print(warning, file=sys.stderr)
    return 0 if checked.holds else 1


def _tell(record):
    """Print a line for each claim, and what a learner is asked where one does not hold."""
    for cell in record.cells:
        if cell.by_hand:
            print(f"· {cell.key}: {cell.max_points:g} points, marked by hand")
            continue
        sign = "✓" if cell.points == cell.max_points else "✗"
        print(f"{sign} {cell.key}: {cell.points:g} of {cell.max_points:g}, {cell.outcome}")
        for line in cell.sentence.splitlines() if sign == "✗" else ():
            print(f"    {line}")
    automatic = [cell for cell in record.cells if not cell.by_hand]
    won, most = sum(c.points for c in automatic), sum(c.max_points for c in automatic)
    print(f"{record.assignment}: {won:g} of {most:g} points")


VERB = Verb("check a notebook as it will be marked", _arguments, _run)
