"""Files that are odd in form: what an editor, a tool or a cheater does to a notebook's bytes."""

import copy
import json
import re

import pytest
from hostile import RIGHT, edit, find, packed
from test_engine_sheets import master_of_sheet

from grader.collecting.candidates import answer_ids
from grader.engine.aligning import align
from grader.engine.reading import MOST_PARTS, Unreadable, read


@pytest.fixture(scope="module")
def master():
    return master_of_sheet("rmsnorm")


def right(change=lambda notebook: None):
    """Return the right submission's bytes after a change of its notebook."""
    notebook = copy.deepcopy(RIGHT)
    change(notebook)
    return packed(notebook)


def everywhere(change):
    """Return the right submission's bytes after a change of every cell."""
    return right(lambda notebook: [change(cell) for cell in notebook["cells"]])


def marks(**facts):
    """Return a change of what cells say to nbgrader."""
    return lambda cell: (cell["metadata"].get("nbgrader") or {}).update(facts)


def rewritten(old, new):
    """Return a change of the text of cells."""
    return lambda cell: cell.update(source="".join(cell["source"]).replace(old, new))


HARMLESS = {
    "another language": right(lambda n: n.update(metadata={"kernelspec": {"name": "ir"}})),
    "no metadata": right(lambda n: n.pop("metadata")),
    "minor 9": right(lambda n: n.update(nbformat_minor=9)),
    "no format": right(lambda n: n.pop("nbformat")),
    "no schema_version": everywhere(
        lambda cell: (cell["metadata"].get("nbgrader") or {}).pop("schema_version", None)
    ),
    "schema of the future": everywhere(marks(schema_version=99, cell_type="raw", checksum=0)),
    "all solutions": everywhere(marks(solution=True, grade=True, task=True)),
    "nothing graded": everywhere(marks(solution=False, grade=False)),
    "ids of 64 KB": everywhere(lambda cell: cell.update(id="a" * 65536)),
    "ids that are numbers": everywhere(lambda cell: cell.update(id=7)),
    "tags": everywhere(
        lambda cell: cell["metadata"].update(tags=["skip-execution", "time-limit-9"])
    ),
    "outputs of no form": everywhere(lambda cell: cell.update(outputs=5, execution_count="x")),
    "attachments": everywhere(
        lambda cell: cell.update(attachments={"\ud800": {"text/html": "<b>"}})
    ),
    "BOM": b"\xef\xbb\xbf" + right(),
    "CRLF": everywhere(rewritten("\n", "\r\n")),
    "CR": everywhere(rewritten("\n", "\r")),
    "no number": right()[:-1] + b', "x": [NaN, Infinity, -1e9999]}',
    "a key twice": right().replace(b'"grade_id": "half', b'"grade_id": "x", "grade_id": "half'),
    "metadata of a string": right(
        lambda n: n["cells"].append(
            {"cell_type": "raw", "metadata": {"nbgrader": "x"}, "source": ""}
        )
    ),
}


@pytest.mark.parametrize("form", HARMLESS)
def test_the_form_of_a_notebook_changes_neither_answers_nor_tests(form, master):
    def squeezed(data):
        placed, _ = align(master, read(data))
        return [re.sub(r"\s+", "\n", one.source) for one in placed if one.master]

    assert squeezed(HARMLESS[form]) == squeezed(right())


REFUSED = {
    "UTF-16": (right().decode().encode("utf-16"), "not in UTF-8"),
    "a NUL at the end": (right() + b"\0", "broken"),
    "more behind it": (right() + b"{}", "broken"),
    "another list of cells": (right()[:-1] + b', "cells": []}', "no cells"),
    "cells that are none": (right(lambda n: n["cells"].append(None)), "its cell 41"),
    "a source of numbers": (everywhere(lambda cell: cell.update(source=[1])), "its cell 1 "),
    "format 5": (right(lambda n: n.update(nbformat=5)), "format 5"),
    "format true": (right(lambda n: n.update(nbformat=True)), "format True"),
    "100,000 cells": (right(lambda n: n.update(cells=[{}] * 100_000)), "5000 is the most"),
    "a number without end": (right()[:-1] + b', "x": ' + b"9" * 5000 + b"}", "no JSON"),
}


@pytest.mark.parametrize("form", REFUSED)
def test_what_cannot_be_read_is_told_in_words(form):
    data, why = REFUSED[form]
    with pytest.raises(Unreadable, match=why):
        read(data)


def test_what_would_fill_the_memory_is_not_parsed():
    """Sixty megabytes of empty lists took 1.6 GiB, in the command's own process if misnamed."""
    bomb = b'{"cells": [' + b"[]," * (MOST_PARTS // 2) + b"[]]}"
    assert answer_ids(bomb) == set()
    with pytest.raises(Unreadable, match="no JSON that a notebook would have"):
        read(bomb)


def test_half_a_character_and_a_nul_stay_in_their_cell(master):
    notebook = copy.deepcopy(RIGHT)
    edit("half_rms", source="# \ud800 \0\nhalf_rms = 1")(
        notebook["cells"], lambda n: find(notebook, n)
    )
    placed, notes = align(master, read(json.dumps(notebook).encode()))
    assert "# ? \0\nhalf_rms = 1" in [one.source for one in placed]
    assert notes == []
