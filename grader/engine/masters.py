"""Masters read from a course folder: the solved notebook, with the stubs that learners got."""

import hashlib
import json
import re
from dataclasses import replace

from grader.engine.master import Master, MasterCell
from grader.engine.roles import ANSWER, FREE, GRADED, HAND, LOCKED

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_HIDDEN = re.compile(r"[ \t]*###? *BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?", re.DOTALL)
_TIME_LIMIT = re.compile(r"time-limit-(\d{1,5})")


def load_masters(folder, assignment):
    """Read the masters of an assignment from a course folder.

    Parameters
    ----------
    folder : Path
        The course folder.
    assignment : str
        The sheet.

    Returns
    -------
    masters : dict
        By name of the notebook: from ``source/``, with the stubs from ``release/``.
    """
    paths = sorted((folder / "source" / assignment).glob("*.ipynb"))
    return {path.stem: _load(path, folder / "release" / assignment / path.name) for path in paths}


def _load(source, release):
    solved, public = source.read_bytes(), release.read_bytes() if release.is_file() else b""
    stripped = json.loads(public) if public else _strip(source)
    digest = hashlib.sha256(solved + public).hexdigest()
    return master_of(json.loads(solved), stripped, digest)


def master_of(solved, released, digest=""):
    """Make a master of a solved notebook and of the one that learners got, both as JSON."""
    stubs = {_name(cell): _source(cell) for cell in released["cells"]}
    metas = {_name(cell): _meta(cell) for cell in released["cells"]}
    cells = (_cell(cell, stubs, metas) for cell in solved["cells"])
    theirs = solved.get("metadata", {})
    metadata = {key: theirs.get(key) or usual for key, usual in METADATA.items()}
    return Master(tuple(cells), metadata, solved.get("nbformat_minor", 4), digest)


def _strip(path):
    """Make the learners' notebook with nbgrader's own steps, where no release was made."""
    import nbformat

    from grader.authoring import learner_notebook

    return learner_notebook(nbformat.read(path, as_version=4))


def _cell(cell, stubs, metas):
    meta = _meta(cell)
    name, source = _name(cell), _source(cell)
    role = _role(meta, cell["cell_type"])
    found = MasterCell(
        kind=cell["cell_type"],
        source=source,
        released=stubs.get(name, source) if name else source,
        name=name,
        id=str(cell.get("id", "")),
        role=role,
        points=float(meta.get("points") or 0) if role in (GRADED, HAND) else 0.0,
        meta=metas.get(name, meta) if meta else {},
        seconds=_seconds(cell.get("metadata", {}).get("tags", ())),
    )
    if role == GRADED and name not in stubs:
        return replace(found, released=_HIDDEN.sub("", source))
    return found


def _role(meta, kind):
    """Say what a cell is for, as nbgrader sees it."""
    if meta.get("task") or (meta.get("grade") and (meta.get("solution") or kind != "code")):
        return HAND
    if meta.get("grade"):
        return GRADED
    if meta.get("solution"):
        return ANSWER
    return LOCKED if meta.get("locked") else FREE


def _seconds(tags):
    found = [_TIME_LIMIT.fullmatch(tag) for tag in tags if isinstance(tag, str)]
    return next((float(match[1]) for match in found if match), None)


def _meta(cell):
    return cell.get("metadata", {}).get("nbgrader") or {}


def _name(cell):
    return _meta(cell).get("grade_id") or cell.get("id", "")


def _source(cell):
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
