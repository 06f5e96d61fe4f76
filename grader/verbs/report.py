"""The verb ``report``: how a class did, for its instructor."""

import json
from pathlib import Path

from grader.verbs import Verb, add_db, add_json, add_sheet, open_sheet


def _arguments(parser):
    add_sheet(parser)
    parser.add_argument(
        "--to", metavar="FILE", type=Path, help="write here (default: reports/SHEET.html in DIR)"
    )
    add_json(parser)
    add_db(parser)


def _run(options):
    from grader import reporting
    from grader.files import write_whole
    from grader.standing import standings

    course = open_sheet(options)
    everyone = standings(course, options.assignment, options.db)
    facts = reporting.summarise(options.assignment, everyone)
    if options.json:
        print(json.dumps(facts, indent=1, ensure_ascii=False))
        return 0
    path = options.to or course.folder / "reports" / f"{options.assignment}.html"
    write_whole(path, reporting.report_page(facts).encode())
    _tell(facts)
    print(f"{path} has the whole report")
    return 0


def _tell(facts):
    """Print the checked claims that were lost most often, and the mistakes found most often."""
    rated = [claim for claim in facts["claims"] if claim["rate"] is not None]
    rated = [claim for claim in rated if not claim["by_hand"]]
    for claim in sorted(rated, key=lambda claim: claim["rate"])[:5]:
        print(f"{100 * claim['rate']:3.0f} % full marks: {claim['cell']}, {claim['label']}")
    for mistake in facts["mistakes"][:5]:
        number = mistake["students"]
        print(
            f"{number:3} student{'s'[: number != 1]}: {mistake['mistake']} in {mistake['exercise']}"
        )


VERB = Verb("show how a class did: claims, mistakes behind them, times", _arguments, _run)
