"""The master notebook: it decides which cells are graded, for how many points, by which tests."""

import ast
import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property

from grader.engine.withheld import lent
from grader.library import names_of

GRADED, HAND, ANSWER, LOCKED, FREE = "graded", "hand", "answer", "locked", "free"
_HIDDEN = re.compile(r"[ \t]*###? *BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?", re.DOTALL)
LIBRARY = "transformer_block."
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_TIME_LIMIT = re.compile(r"time-limit-(\d{1,5})")


@dataclass(frozen=True)
class MasterCell:
    """A cell of the master.

    Parameters
    ----------
    kind : str
        ``"code"``, ``"markdown"`` or ``"raw"``.
    source : str
        Its text, answers and hidden tests included.
    released : str
        The text that learners got.
    name : str
        Its grade id, or else its id in the notebook.
    id : str
        Its id in the notebook; empty before notebook format 4.5.
    role : str
        What it is for: graded by its own code, marked by hand, an answer, locked, or free.
    points : float
        What it can give.
    meta : dict
        nbgrader's metadata of the release.
    seconds : float or None
        The time limit that it asks for.
    """

    kind: str
    source: str
    released: str
    name: str
    id: str
    role: str
    points: float
    meta: dict
    seconds: float | None

    @property
    def hides(self):
        """Whether learners have not seen all of it."""
        return self.role == GRADED and self.source.strip() != self.released.strip()

    @property
    def label(self):
        """What it claims in public words: the comment that it starts with, or its name."""
        lines = []
        for line in self.released.strip().splitlines():
            if not line.startswith("#") or line.startswith(("#!", "###")):
                break
            lines.append(line.lstrip("# ").rstrip())
        return " ".join(lines) or self.name

    @cached_property
    def names(self):
        """Names that the cell defines, and names that it needs; empty where it is no Python."""
        if self.kind != "code":
            return set(), set()
        try:
            return names_of(self.source)
        except (SyntaxError, ValueError):
            return set(), set()


@dataclass(frozen=True)
class Master:
    """The master of one sheet.

    Parameters
    ----------
    cells : tuple of MasterCell
        All its cells.
    metadata : dict
        The notebook's own, with the course's kernel.
    minor : int
        Of the notebook format.
    digest : str
        SHA-256 of its bytes and of the release's.
    """

    cells: tuple
    metadata: dict
    minor: int
    digest: str

    @cached_property
    def by_name(self):
        """Cells that nbgrader knows, by grade id."""
        return {cell.name: cell for cell in self.cells if cell.meta}

    @cached_property
    def scored(self):
        """Cells that give points, in order."""
        return [cell for cell in self.cells if cell.role in (GRADED, HAND)]

    @cached_property
    def asked(self):
        """Names of the functions and values that the answers define."""
        return {name for cell in self.cells if cell.role == ANSWER for name in cell.names[0]}

    @cached_property
    def handed_out(self):
        """Full names of what the released cells import from the course's library.

        With them the small helpers that the master's own answers take from private modules.
        """
        code = [cell for cell in self.cells if cell.kind == "code"]
        helpers = {dotted for cell in code for dotted in _imported(cell.source) if "._" in dotted}
        return helpers.union(*(_imported(cell.released) for cell in code))

    def answers_of(self, cell):
        """Return the answer cells that a graded cell judges: those that define what it uses."""
        if cell.role != GRADED:
            return [cell]
        before = self.cells[: self.cells.index(cell)]
        return [c for c in before if c.role == ANSWER and c.names[0] & cell.names[1]]

    def judged_by(self, cell):
        """Return the names that the answers judged by a graded cell define."""
        return frozenset().union(*(answer.names[0] for answer in self.answers_of(cell)))

    def free_before(self, names):
        """Return what is lent and gives away nothing that these graded cells judge."""
        judged = frozenset().union(*(self._judged[name] for name in names))
        return frozenset(dotted for dotted, gives in self.lent.items() if not gives & judged)

    @cached_property
    def _judged(self):
        return {cell.name: self.judged_by(cell) for cell in self.scored if cell.role == GRADED}

    @cached_property
    def lent(self):
        """Library functions that the sheet hands out although they give away what it asks."""
        return lent(self.asked, self.handed_out)

    def as_handed_in(self):
        """Return the solved notebook as a submission, to try the tests on."""
        cells = [_as_json(cell, cell.source) for cell in self.cells]
        notebook = {"cells": cells, "metadata": self.metadata, "nbformat": 4}
        return json.dumps(notebook).encode()


def _as_json(cell, source):
    meta = {"nbgrader": cell.meta} if cell.meta else {}
    return {"cell_type": cell.kind, "source": source, "metadata": meta, "id": cell.id}


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


def _tree(source):
    """Parse code; what is no Python is empty."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _imported(source):
    """Return the full names of what code imports from the course's library."""
    return {
        f"{node.module}.{alias.name}"
        for node in ast.walk(_tree(source))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(LIBRARY)
        for alias in node.names
    }


def last_value(source):
    """Return the source's tree without its last expression, and that expression if there is one."""
    tree = ast.parse(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
        return tree, last
    return tree, None
