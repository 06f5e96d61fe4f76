"""The verb ``collect``: downloads into the course folder."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from grader.names import shown
from grader.verbs import Verb, add_json, add_sheet, open_sheet


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument(
        "sources",
        metavar="DOWNLOAD",
        nargs="+",
        type=Path,
        help="a zip from Canvas or Moodle, another zip, a folder, or one notebook",
    )
    parser.add_argument(
        "--times",
        metavar="CSV",
        type=Path,
        help="when students handed in: columns student and submitted, for the late policy",
    )
    add_json(parser)


def _run(options):
    from grader.collecting.collect import collect, read_times

    course = open_sheet(options)
    times = read_times(options.times) if options.times else None
    collected, refused = collect(course, options.assignment, options.sources, times)
    if options.json:
        facts = {"collected": collected, "refused": refused}
        print(json.dumps({k: [asdict(one) for one in v] for k, v in facts.items()}, indent=1))
    else:
        _tell(options.assignment, collected)
    for one in refused:
        print(shown(f"refused {one.path}: {one.reason}"), file=sys.stderr)
    return int(bool(refused))


def _tell(assignment, collected):
    """Print a line for each student: what was kept, and what else there was."""
    for one in collected:
        kept = f" {one.file}" if one.file else ""
        others = f"; not kept: {', '.join(one.others)}" if one.others else ""
        remark = f" ({one.remark})" if one.remark else ""
        print(shown(f"{one.student}: {one.status}{kept}{remark}{others}"))
    print(f"{assignment}: {sum(bool(one.file) for one in collected)} of {len(collected)} collected")


VERB = Verb("put what was handed in into the course folder", _arguments, _run)
