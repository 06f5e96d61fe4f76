"""A learner's own notebook, marked as it will be marked: the same claims, from top to bottom."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.collecting.candidates import answer_ids
from grader.engine.jail import AUTO, LIMITS, Jail, NoSandbox
from grader.engine.limits import Limits
from grader.engine.marking import mark
from grader.engine.masters import master_of
from grader.engine.remembering import Habits
from grader.engine.stage import set_stage
from grader.errors import UsageError
from grader.records import FAILED, PASSED


@dataclass(frozen=True)
class Checked:
    """What checking a notebook gave.

    Parameters
    ----------
    record : Record
        As marking would give it, but for what is marked by hand.
    warnings : tuple of str
        What works now and will not when the notebook is run from the top.
    """

    record: object
    warnings: tuple[str, ...]

    @property
    def holds(self):
        """Whether every claim that is not judged by a person holds."""
        return all(cell.outcome == PASSED for cell in self.record.cells if not cell.by_hand)


def check_notebook(path, root, seconds=Limits.seconds):
    """Run a notebook and check every claim of its sheet.

    Parameters
    ----------
    path : Path
        The notebook.
    root : Path
        The repository, whose ``notebooks/`` say what is claimed.
    seconds : float
        For one cell.

    Returns
    -------
    checked : Checked
        What marking it would give.

    Raises
    ------
    UsageError
        If it cannot be read, or is none of the course's sheets.
    """
    try:
        data = path.read_bytes()
    except OSError as trouble:
        raise UsageError(f"{path}: {trouble.strerror}") from trouble
    sheet, released = _sheet_of(path, data, root)
    record, notebook = _mark(master_of(released, released), data, sheet, Limits(seconds=seconds))
    if record.status == FAILED:
        raise UsageError(f"{path}: {record.remark}")
    return Checked(record, tuple(_hidden_state(json.loads(notebook))))


def _sheet_of(path, data, root):
    """Return the name of the sheet with most of the notebook's cells, and its notebook."""
    sheets = {file.stem: file.read_bytes() for file in sorted(root.glob("notebooks/*.ipynb"))}
    ids = answer_ids(data)
    shared = {name: len(answer_ids(sheet) & ids) for name, sheet in sheets.items()}
    best = max(shared, key=shared.get, default=None)
    if path.stem in sheets and not ids:
        best = path.stem  # too broken to show its cells: marking says what is wrong with it
    elif best is None or not shared[best]:
        raise UsageError(f"{path} is none of the course's sheets: {', '.join(sheets) or 'none'}")
    return best, json.loads(sheets[best])


def _mark(master, data, sheet, limits):
    """Mark in the sandbox, or without its walls where there is none: the code is one's own."""
    with tempfile.TemporaryDirectory(prefix="stage-") as stage:
        set_stage(Path(stage), [master])
        for mode in (AUTO, LIMITS):
            try:
                with Jail(Path(stage), limits, None, mode) as jail:
                    return mark(master, data, jail, limits, Habits(), assignment=sheet)
            except NoSandbox:
                if mode == LIMITS:
                    raise
    raise AssertionError("one of the two ways returns or raises")


def _hidden_state(notebook):
    """Name the names that no cell above defines when the notebook is run from the top."""
    for number, cell in enumerate(notebook["cells"], start=1):
        for output in cell.get("outputs", ()):
            if output.get("ename") == "NameError":
                yield (
                    f"cell {number}: {output['evalue']} when the notebook is run from the top: "
                    "is the cell that defined it gone, or further down?"
                )
