"""Sheets: the files in solutions/ that instructors write, read cell by cell."""

from dataclasses import dataclass

import jupytext

from grader.errors import BuildError

# What may stand in the head of a cell: the key that names its role, the kind of cell it needs,
# and the keys that go with it.
ROLES = {
    "exercise": ("markdown", {"stars", "minutes"}),
    "answer": ("code", set()),
    "claim": ("code", {"points"}),
    "by_hand": ("markdown", {"points"}),
    "scratch": ("code", set()),
}


_NAME = ("a name", lambda value: isinstance(value, str) and value.strip())
_COUNT = ("a whole number above zero", lambda value: type(value) is int and value > 0)
_VALUES = {
    **dict.fromkeys(["exercise", "answer", "claim", "by_hand"], _NAME),
    **dict.fromkeys(["stars", "minutes", "points"], _COUNT),
    "scratch": ("true", lambda value: value is True),
}


@dataclass(frozen=True)
class SheetCell:
    """One cell of a sheet as its author wrote it.

    Parameters
    ----------
    file : str
        The sheet, as shown in messages: ``solutions/rmsnorm.md``.
    number : int
        Place in the sheet, counted from 1.
    kind : str
        ``"code"`` or ``"markdown"``.
    source : str
        Text of the cell; empty where the builder writes it.
    head : dict
        What stands in the head of the cell: ``{"claim": "rmsnorm_forward value", "points": 8}``.
    """

    file: str
    number: int
    kind: str
    source: str
    head: dict

    @property
    def role(self):
        """One of the names in ``ROLES``, or ``"plain"``."""
        return next((role for role in ROLES if role in self.head), "plain")

    @property
    def name(self):
        """What the author calls this cell, or nothing; the last word of a dotted name."""
        text = str(self.head.get(self.role, ""))
        return text.rpartition(".")[2] if self.role == "answer" else text

    @property
    def points(self):
        """The points of a graded cell; 0 for every other."""
        return self.head.get("points", 0)

    def error(self, reason):
        """Return the error that names this cell."""
        who = f" ({self.name})" if self.role not in ("plain", "scratch") else ""
        return BuildError(f"{self.file}, cell {self.number}{who}: {reason}")


def read_sheet(path):
    """Read a sheet and check the head of each cell.

    Parameters
    ----------
    path : Path
        A MyST text notebook.

    Returns
    -------
    cells : list of SheetCell
        All cells in their order.

    Raises
    ------
    BuildError
        If the file is no text notebook, or the head of a cell is not understood.
    """
    file = f"{path.parent.name}/{path.name}"
    try:
        notebook = jupytext.reads(path.read_text("utf-8"), "md:myst")
    except Exception as trouble:  # jupytext's parsers raise many kinds
        raise BuildError(f"{file}: not readable: {_first_line(trouble)}") from trouble
    cells = [
        SheetCell(file, number, cell.cell_type, cell.source.strip("\n"), dict(cell.metadata))
        for number, cell in enumerate(notebook.cells, start=1)
    ]
    for cell in cells:
        _check_head(cell)
    return cells


def _first_line(trouble):
    """Return the first line of an error's text, or its kind if it has none."""
    return (str(trouble).splitlines() or [type(trouble).__name__])[0]


def _check_head(cell):
    """Raise ``BuildError`` unless the head of the cell is complete and of the right kinds."""
    kind, companions = ROLES.get(cell.role, (cell.kind, set()))
    unknown = cell.head.keys() - companions - {cell.role}
    if unknown:
        beside = "" if cell.role == "plain" else f" beside {cell.role!r}"
        raise cell.error(f"does not know the key {min(unknown)!r}{beside}")
    if cell.kind != kind:
        raise cell.error(f"{cell.role!r} belongs in a {kind} cell, this is a {cell.kind} cell")
    for key in sorted(companions | cell.head.keys()):
        value = cell.head.get(key)
        wanted, is_right = _VALUES[key]
        if not is_right(value):
            raise cell.error(f"{key!r} must be {wanted}: got {value!r}")
