"""How a master's tests have to be run, kept beside the records: it is found out once."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from grader.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("grader", "transformer_block")  # whose code has a say in what is found out


@dataclass(frozen=True)
class Habits:
    """How the master's own tests have to be run, found out by running them on the master.

    Parameters
    ----------
    sandboxed : frozenset of str
        Graded cells that look at what does not cross: they run beside the student's code.
    may_write : frozenset of str
        Graded cells in which the right answer changes its arguments.
    troubles : tuple of str
        What the author of the tests should mend.
    """

    sandboxed: frozenset = frozenset()
    may_write: frozenset = frozenset()
    troubles: tuple = ()


def key_of(masters, limits, mode):
    """Digest everything that has a say: the masters, the bounds, and the code of both packages."""
    facts = [master.digest for master in masters.values()] + [repr(limits), mode]
    total = hashlib.sha256("\0".join(facts).encode())
    for part in PARTS:
        for file in sorted((ROOT / part).rglob("*.py")):
            total.update(file.read_bytes())
    return total.hexdigest()


def recall(folder, assignment, key):
    """Return the habits of an assignment's masters, or nothing if they are to be found out.

    Parameters
    ----------
    folder : Path
        The course folder.
    assignment : str
        The sheet.
    key : str
        From `key_of`.

    Returns
    -------
    habits : dict or None
        By name of the notebook.
    """
    try:
        kept = json.loads(_path(folder, assignment).read_text("utf-8"))
        if kept["key"] != key:
            return None
        return {
            name: Habits(frozenset(sandboxed), frozenset(may_write))
            for name, (sandboxed, may_write) in kept["habits"].items()
        }
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def remember(folder, assignment, key, habits):
    """Keep habits for the next run."""
    kept = {name: [sorted(one.sandboxed), sorted(one.may_write)] for name, one in habits.items()}
    text = json.dumps({"key": key, "habits": kept}, indent=1)
    write_whole(_path(folder, assignment), text.encode())


def kept_in(folder):
    """Return the part of a course folder that may be removed: all in it is found out again."""
    return folder / "records" / ".habits"


def _path(folder, assignment):
    return kept_in(folder) / f"{assignment}.json"
