"""From a sheet to its solved notebook: short cell heads become nbgrader's metadata."""

import re
import textwrap

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.library import BEGIN, END, library_answer, names_of
from grader.sheet import read_sheet

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what the notebook format takes for the id of a cell
_MARK = re.compile(r"(?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)")  # as nbgrader sees them


def solved_notebook(path, find_exercise):
    """Expand a sheet into the master notebook, answers included.

    Parameters
    ----------
    path : Path
        The sheet, ``solutions/rmsnorm.md``.
    find_exercise : callable
        Name to exercise, as `grader.checks.find_exercise`; raises ``LookupError``.

    Returns
    -------
    notebook : NotebookNode
        nbformat 4.5 with nbgrader's metadata; ids depend on the sheet alone, no outputs.

    Raises
    ------
    BuildError
        At the first cell that cannot be expanded, with the reason.
    """
    cells = read_sheet(path)
    sheet = _Expansion(path.stem, cells, find_exercise)
    return new_notebook(
        cells=[sheet.expand(cell) for cell in cells],
        metadata={"kernelspec": dict(KERNEL), "language_info": {"name": "python"}},
    )


class _Expansion:
    """Expand cells one after the other, remembering what the cells before have brought."""

    def __init__(self, name, cells, find_exercise):
        self.name = name
        self.cells = cells
        self.find_exercise = find_exercise
        self.ids = set()
        self.defined = set()
        self.answered = set()
        self.count = dict.fromkeys(["exercise", "text", "setup", "scratch"], 0)

    def expand(self, cell):
        """Return the notebook cell that a sheet's cell stands for."""
        mark = _MARK.search(cell.source)
        if mark and cell.role != "answer":
            raise cell.error(f"has the mark {mark[0]!r} but is no answer")
        return getattr(self, f"_{cell.role}")(cell)

    def _exercise(self, cell):
        """Write the heading with its number, and how hard, how long, how many points it is."""
        below = self._below(cell)
        if cell.name not in {other.name for other in below if other.role in ("answer", "by_hand")}:
            raise cell.error("no answer below this heading has its name")
        heading = re.match(r"(#+) +(.+)", cell.source)
        if not heading:
            raise cell.error("must start with a heading: '## What is asked'")
        number = self._next("exercise")
        points = sum(other.points for other in below)
        title = f"{heading[1]} Exercise {number} · {heading[2]}"
        facts = (
            "★" * cell.head["stars"],
            f"about {_quantity(cell.head['minutes'], 'minute')}",
            _quantity(points, "point"),
        )
        text = cell.source[heading.end() :].strip("\n")
        source = "\n\n".join([title, " · ".join(facts), text]).rstrip("\n")
        return new_markdown_cell(source, id=self._id(cell, f"exercise-{cell.name}"))

    def _below(self, heading):
        """Return the cells under an exercise heading, up to the next one."""
        below = []
        for cell in self.cells[heading.number :]:
            if cell.role == "exercise":
                break
            below.append(cell)
        return below

    def _answer(self, cell):
        """Write an answer with solution marks, from the library or from the sheet itself."""
        self.answered.add(cell.name)
        source = self._answer_source(cell)
        self._need_names(cell, source)
        return self._code(cell, cell.name, source, solution=True)

    def _answer_source(self, cell):
        """Return the solved source of an answer, with its marks in order."""
        if "." in cell.head["answer"]:
            if cell.source:
                raise cell.error("must be empty: the answer comes from the library")
            try:
                return library_answer(cell.head["answer"])
            except LookupError as trouble:
                raise cell.error(trouble.args[0]) from trouble
        marks = _MARK.findall(cell.source)
        if not marks or marks != ["BEGIN SOLUTION", "END SOLUTION"] * (len(marks) // 2):
            raise cell.error(f"the answer must stand between {BEGIN} and {END}")
        return cell.source

    def _claim(self, cell):
        """Write a graded cell that checks one claim about an answer."""
        exercise, claim = self._find_claim(cell)
        if cell.source:
            raise cell.error("must be empty: the check comes from the registry")
        others = "".join(f", {key}={value}" for key, value in exercise.companions.items())
        says = textwrap.wrap(claim.says, 97)
        source = "\n".join(
            [
                *(f"# {line}" for line in says),
                "from grader import check",
                "",
                f'check({exercise.name}, "{claim.name}"{others})',
            ]
        )
        self._need_names(cell, source)
        grade_id = f"{exercise.name}-{claim.name}"
        return self._code(cell, grade_id, source, points=cell.points, locked=True)

    def _find_claim(self, cell):
        """Return the exercise and the claim that a graded cell names."""
        name, _, claim = cell.name.partition(" ")
        try:
            exercise = self.find_exercise(name)
        except LookupError as trouble:
            raise cell.error(trouble.args[0]) from trouble
        if claim not in exercise.claims:
            known = ", ".join(exercise.claims)
            raise cell.error(f"{name} has no claim {claim!r}: it has {known}")
        if name not in self.answered:
            raise cell.error(f"no cell before this one answers {name}")
        return exercise, exercise.claims[claim]

    def _by_hand(self, cell):
        """Keep the model answer in a cell that is marked by hand."""
        meta = _nbgrader(cell.name, solution=True, points=cell.points)
        return new_markdown_cell(cell.source, id=self._id(cell, cell.name), metadata=meta)

    def _scratch(self, cell):
        """Leave a code cell free for trying things out."""
        self._need_names(cell, cell.source)
        return new_code_cell(cell.source, id=self._id(cell, self._place("scratch")))

    def _plain(self, cell):
        """Keep text as it is; lock code that the answers build on."""
        if cell.kind != "code":
            return new_markdown_cell(cell.source, id=self._id(cell, self._place("text")))
        self._need_names(cell, cell.source)
        return self._code(cell, self._place("setup"), cell.source, locked=True)

    def _code(self, cell, grade_id, source, **marking):
        """Return a code cell that nbgrader knows."""
        meta = _nbgrader(grade_id, **marking)
        return new_code_cell(source, id=self._id(cell, grade_id), metadata=meta)

    def _need_names(self, cell, source):
        """Check that earlier cells define what this one uses, and note what it defines."""
        try:
            defined, free = names_of(source)
        except SyntaxError as trouble:
            raise cell.error(f"not Python: {trouble.msg}, line {trouble.lineno}") from trouble
        missing = free - self.defined
        if missing:
            raise cell.error(f"uses {', '.join(sorted(missing))}, which no earlier cell defines")
        self.defined |= defined

    def _id(self, cell, wanted):
        """Take an id for a cell; no two cells of a notebook may have the same."""
        if not _ID.fullmatch(wanted):
            raise cell.error(
                f"the id {wanted!r} must be 1 to 64 letters, digits, hyphens or underscores"
            )
        if wanted in self.ids:
            raise cell.error(f"the id {wanted!r} is taken by an earlier cell")
        self.ids.add(wanted)
        return wanted

    def _place(self, kind):
        """Make the id of a cell without a name from the sheet and the cell's place in it."""
        return f"{self.name}-{kind}-{self._next(kind)}"

    def _next(self, kind):
        """Count one more cell of this kind."""
        self.count[kind] += 1
        return self.count[kind]


def _nbgrader(grade_id, *, solution=False, locked=False, points=None):
    """Return cell metadata as nbgrader's own toolbar would write it."""
    marks = {} if points is None else {"points": points}
    return {
        "nbgrader": {
            "grade": points is not None,
            "grade_id": grade_id,
            "locked": locked,
            "schema_version": 3,
            "solution": solution,
            "task": False,
            **marks,
        }
    }


def _quantity(number, noun):
    """Write "1 point", "12 points"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
