"""The master notebook: it decides which cells are graded, for how many points, by which tests."""

import ast
import json
from dataclasses import dataclass
from functools import cached_property

from grader.engine.planning import plan
from grader.engine.roles import ANSWER, GRADED, HAND
from grader.engine.withheld import lent
from grader.library import names_of

LIBRARY = "transformer_block."


@dataclass(frozen=True, eq=False)
class MasterCell:
    """A cell of the master, equal to itself alone: a master may hold two of the same text.

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

    @cached_property
    def graded(self):
        """Cells that are graded by their own code, in order."""
        return [cell for cell in self.cells if cell.role == GRADED]

    @cached_property
    def judged(self):
        """By graded cell, the names that the answers define which it judges."""
        return {
            cell.name: frozenset().union(*(answer.names[0] for answer in self.answers_of(cell)))
            for cell in self.graded
        }

    @cached_property
    def plans(self):
        """By graded cell, what it needs before it runs."""
        return {cell.name: plan(self.cells, cell) for cell in self.graded}

    def free_before(self, names):
        """Return what is lent and gives away nothing that these graded cells judge."""
        judged = frozenset().union(*(self.judged[name] for name in names))
        return frozenset(dotted for dotted, gives in self.lent.items() if not gives & judged)

    @cached_property
    def lent(self):
        """Library functions that the sheet hands out although they give away what it asks."""
        return lent(self.asked, self.handed_out)

    def warm_up(self):
        """Find out now what every submission asks for: a fork or a pickle takes it along."""
        self.free_before(self.plans)

    def as_handed_in(self):
        """Return the solved notebook as a submission, to try the tests on."""
        cells = [_as_json(cell, cell.source) for cell in self.cells]
        notebook = {"cells": cells, "metadata": self.metadata, "nbformat": 4}
        return json.dumps(notebook).encode()


def _as_json(cell, source):
    meta = {"nbgrader": cell.meta} if cell.meta else {}
    return {"cell_type": cell.kind, "source": source, "metadata": meta, "id": cell.id}


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
