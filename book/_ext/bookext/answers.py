"""Appendix D: the answers of a sheet, taken from solutions/ and from the library.

``{sheet-answers} rmsnorm`` shows every exercise of ``solutions/rmsnorm.md`` as a fold with its
answer in it, so nothing is typed twice and nobody sees an answer before asking for it.
"""

from bookext.listings import summarize_docstring
from bookext.written import Written

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def setup(app):
    """Add the directive."""
    app.add_directive("sheet-answers", SheetAnswers)


class SheetAnswers(Written):
    """Show the answers of one sheet, each in a fold of its own."""

    required_arguments = 1

    def text(self):
        """Write one fold for each exercise."""
        return answers_text(self.depend_on("solutions", f"{self.arguments[0]}.md"))


def answers_text(path):
    """Write the answers of a sheet as MyST text.

    Parameters
    ----------
    path : Path
        The sheet, ``solutions/rmsnorm.md``.

    Returns
    -------
    text : str
        One fold for each exercise: its number and title, then code and model answers in order.
    """
    from grader.sheet import read_sheet

    folds, number = [], 0
    for cell in read_sheet(path):
        if cell.role == "exercise":
            number += 1
            title = cell.source.splitlines()[0].lstrip("# ")
            folds.append([f"::::{{dropdown}} Exercise {number} · {title}", ""])
        elif folds and cell.role in ("answer", "by_hand"):
            folds[-1] += [_shown(cell), ""]
    return "\n".join(line for fold in folds for line in [*fold, "::::", ""])


def _shown(cell):
    """Write one answer: code as a block, a model answer as the text it is."""
    if cell.role == "by_hand":
        return cell.source
    return f"```python\n{answer_of(cell)}\n```"


def answer_of(cell):
    """Return the solved code of an answer, without nbgrader's marks."""
    from grader.library import library_answer

    dotted = cell.head["answer"]
    source = library_answer(dotted) if "." in dotted else cell.source
    kept = [line for line in source.splitlines() if line.strip() not in (BEGIN, END)]
    return summarize_docstring("\n".join(kept) + "\n").rstrip("\n")
