"""Make submission notebooks from the learners' notebooks and files of answers.

    python tests/submissions/make.py            writes tests/submissions/<sheet>/*.ipynb
    python tests/submissions/make.py --check    writes nothing, fails if one is not up to date

A file of answers, tests/submissions/<sheet>/<name>.py, holds cells in jupytext's percent format.
The line that opens a cell says what becomes of it:

    # %% rmsnorm_forward                   the answer of this grade id
    # %% [markdown] rank_one_in_words      an answer in words
    # %% after rmsnorm_forward             a cell of the student's own, put in after that answer

What stands before the first such line says what the submission is about.
"""

import sys
from pathlib import Path

import jupytext
import nbformat

HERE = Path(__file__).resolve().parent
NOTEBOOKS = HERE.parent.parent / "notebooks"


def submission(notebook, answers):
    """Put the answers of a file's text into a learner's notebook and return it."""
    for cell in jupytext.reads(answers, "py:percent").cells:
        title = cell.metadata.get("title", "")
        if title.startswith("after "):
            _insert(notebook, title.removeprefix("after "), cell)
        elif title:
            notebook.cells[_place(notebook, title)].source = cell.source
    return notebook


def _place(notebook, cell_id):
    """Return where the cell of this id is."""
    ids = [cell.id for cell in notebook.cells]
    if cell_id not in ids:
        raise ValueError(f"the notebook has no cell {cell_id!r}: it has {', '.join(ids)}")
    return ids.index(cell_id)


def _insert(notebook, cell_id, cell):
    """Put a cell of the student's own behind the others that follow this answer."""
    own = f"own-{cell_id}-"
    number = sum(other.id.startswith(own) for other in notebook.cells)
    make = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
    notebook.cells.insert(
        _place(notebook, cell_id) + number + 1, make(cell.source, id=f"{own}{number + 1}")
    )


def made():
    """Yield path and text of every submission."""
    for answers in sorted(HERE.glob("*/*.py")):
        released = NOTEBOOKS / f"{answers.parent.name}.ipynb"
        notebook = nbformat.read(released, as_version=4)
        text = nbformat.writes(submission(notebook, answers.read_text("utf-8")))
        yield answers.with_suffix(".ipynb"), text + "\n"


def main(words):
    """Write all submissions, or with ``--check`` compare them; return the exit code."""
    stale = 0
    for path, text in made():
        name = path.relative_to(HERE.parent.parent)
        if words != ["--check"]:
            path.write_text(text, "utf-8")
            print(f"wrote {name}")
        elif not path.exists() or path.read_text("utf-8") != text:
            print(f"{name}: not up to date; run: python tests/submissions/make.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
