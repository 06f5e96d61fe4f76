"""The verb ``doctor``: try what protects on this computer, and give a verdict."""

import json
import sys
from pathlib import Path

from grader.engine.jail import AUTO, LIMITS, NoSandbox
from grader.verbs import Verb, add_json


def _arguments(parser):
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        nargs="?",
        default=Path.cwd(),
        help="a folder that must stay out of reach, such as the course folder (default: this one)",
    )
    parser.add_argument("--sandbox", choices=(AUTO, LIMITS), default=AUTO, help="as for grade")
    add_json(parser)


def _run(options):
    from grader.engine.doctor import examine, means

    found = means()
    try:
        held = dict(examine(options.folder, options.sandbox))
    except NoSandbox as trouble:
        held, reason = {}, str(trouble)
    else:
        reason = ""
    safe = bool(held) and all(held.values())
    if options.json:
        print(json.dumps({"means": found, "held": held, "safe": safe, "reason": reason}, indent=1))
    else:
        _tell(found, held, reason)
    return 0 if safe else 1


def _tell(found, held, reason):
    for line in found:
        print(line)
    for what, kept in held.items():
        print(f"  {'held' if kept else 'OPEN'}  {what}")
    if not held:
        print(f"verdict: no sandbox here ({reason}): grade refuses to run", file=sys.stderr)
    elif all(held.values()):
        print(f"verdict: students' code is kept in; {len(held)} of {len(held)} attempts held")
    else:
        open_ones = sum(not kept for kept in held.values())
        print(f"verdict: {open_ones} of {len(held)} attempts got through", file=sys.stderr)


VERB = Verb("say what protects on this computer, and try it", _arguments, _run)
