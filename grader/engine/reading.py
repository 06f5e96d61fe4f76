"""Submissions as plain JSON: what cannot be read is said in words, and nothing is trusted."""

import json
import re
from dataclasses import dataclass

LARGEST = 64 << 20  # bytes of one notebook
MOST_CELLS = 5000
MOST_PARTS = 3_000_000  # of the JSON of one notebook: a part of three bytes takes a hundred
KINDS = ("code", "markdown", "raw")
PICTURES = ("image/png", "image/jpeg")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


class Unreadable(Exception):
    """These bytes are no notebook; the text says why."""


@dataclass(frozen=True)
class Cell:
    """One cell as it was handed in: what a submission may contribute, and no more.

    Parameters
    ----------
    kind : str
        ``"code"``, ``"markdown"`` or ``"raw"``.
    source : str
        Its text.
    grade_id : str
        What its metadata calls it; empty if nothing.
    id : str
        The notebook format's id; empty if there is none.
    meta : dict
        What else its metadata says for nbgrader, to tell what was changed.
    pictures : dict
        Attachments that are pictures: name to type to base64.
    """

    kind: str
    source: str
    grade_id: str = ""
    id: str = ""
    meta: dict = None
    pictures: dict = None


def read(data):
    """Return the cells of a notebook.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    cells : list of Cell
        In the order of the notebook.

    Raises
    ------
    Unreadable
        If the bytes are no notebook of format 4.
    """
    notebook = _parse(data)
    version = notebook.get("nbformat", 4)
    if "cells" not in notebook and "worksheets" in notebook:
        raise Unreadable("it is in notebook format 3: open and save it in a Jupyter of today")
    if version != 4:
        raise Unreadable(f"it is in notebook format {_brief(version)}, and 4 is what can be read")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("it has no list of cells (a format before 4?)")
    if not cells:
        raise Unreadable("it has no cells")
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"it has {len(cells)} cells, and {MOST_CELLS} is the most")
    return [_cell(cell, number) for number, cell in enumerate(cells, start=1)]


def bytes_of(path):
    """Read a file that was handed in, and no more of it than tells that it is too large."""
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def parse(data):
    """Return the value of JSON that a stranger wrote; `ValueError` where it is none.

    Also where it is made to fill the memory: 60 MiB of empty lists would take 1.6 GiB.
    """
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_PARTS:
        raise ValueError(f"more than {MOST_PARTS} parts")
    return json.loads(data.decode("utf-8-sig"))


def _parse(data):
    """Read JSON; say in words why that fails."""
    if len(data) > LARGEST:
        raise Unreadable(f"it has more than {LARGEST >> 20} MiB")
    try:
        notebook = parse(data)
    except UnicodeDecodeError as trouble:
        raise Unreadable("not in UTF-8") from trouble
    except json.JSONDecodeError as trouble:
        raise Unreadable(f"broken at line {trouble.lineno}, it may be cut off") from trouble
    except (RecursionError, ValueError, MemoryError) as trouble:
        raise Unreadable("no JSON that a notebook would have") from trouble
    if not isinstance(notebook, dict):
        raise Unreadable("it has no list of cells (a format before 4?)")
    return notebook


def _cell(cell, number):
    """Take from a cell what a submission may contribute."""
    try:
        meta = cell["metadata"].get("nbgrader")
        meta = meta if isinstance(meta, dict) else {}
        source = cell["source"]
        source = source if isinstance(source, str) else "".join(source)
        return Cell(
            kind=KINDS[KINDS.index(cell["cell_type"])],
            source=clean(source),
            grade_id=_text(meta.get("grade_id")),
            id=_text(cell.get("id")),
            meta={key: _plain(value) for key, value in meta.items()},
            pictures=_pictures(cell.get("attachments")),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as trouble:
        raise Unreadable(f"its cell {number} is none that a notebook can have") from trouble


def clean(text):
    """Replace what is no character (half a surrogate pair), so that a text can be written."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(value):
    return clean(value) if isinstance(value, str) else ""


def _pictures(attachments):
    """Keep attachments that are pictures, in the characters that base64 has."""
    kept = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        data = {
            kind: text
            for kind, text in (kinds.items() if isinstance(kinds, dict) else ())
            if kind in PICTURES and isinstance(text, str) and _BASE64.fullmatch(text)
        }
        if data:
            kept[_text(name)] = data
    return kept


def _brief(value):
    return f"{_plain(value)!r}"[:20]


def _plain(value):
    """Return a value that can be told, and the name of its type in place of one that nests."""
    return type(value).__name__ if isinstance(value, list | dict) else value
