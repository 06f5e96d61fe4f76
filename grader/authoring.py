"""Learners' notebooks, made from the sheets of the instructors."""

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells

from grader.checks import find_exercise
from grader.errors import UsageError
from grader.expanding import solved_notebook


def sheets(root):
    """Return the paths of all sheets of a repository, in the order of their names."""
    found = sorted((root / "solutions").glob("*.md"))
    if not found:
        raise UsageError(f"no sheets in {root / 'solutions'}: name the repository with --root")
    return found


def master(sheet):
    """Return the solved notebook of a sheet."""
    return solved_notebook(sheet, find_exercise)


def learner_notebook(solved):
    """Strip a solved notebook with nbgrader's own steps, all but the one that needs a gradebook.

    Parameters
    ----------
    solved : NotebookNode
        From `master`; it is changed.

    Returns
    -------
    notebook : NotebookNode
        Stubs in place of the answers, and nbgrader's checksums.
    """
    notebook, resources = solved, {}
    for step in GenerateAssignment.preprocessors.default():
        if step is not SaveCells:
            notebook, resources = step().preprocess(notebook, resources)
    return notebook


def to_bytes(notebook):
    """Write a notebook as nbgrader does: sorted keys, one more newline at the end."""
    return (nbformat.writes(notebook) + "\n").encode()


def built(root):
    """Yield path and bytes of each learner's notebook of a repository."""
    for sheet in sheets(root):
        path = root / "notebooks" / f"{sheet.stem}.ipynb"
        yield path, to_bytes(learner_notebook(master(sheet)))


def write_notebooks(root):
    """Write all learners' notebooks and return their paths."""
    written = dict(built(root))  # all of them, before the first is written
    for path, data in written.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return list(written)


def stale_notebooks(root):
    """Return the paths of notebooks that differ from what the sheets give, orphans included."""
    wanted = dict(built(root))
    there = {path: path.read_bytes() for path in (root / "notebooks").glob("*.ipynb")}
    return sorted(path for path in wanted | there if wanted.get(path) != there.get(path))
