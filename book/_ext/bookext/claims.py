"""What the checks of a sheet know: claims, mistakes and figures, taken from the checks themselves.

``{claims} rmsnorm`` shows every exercise of the sheet as a fold; ``{claims-figures}`` shows tables
of what ``make checks-report`` measured.
"""

import importlib
import json

from bookext.written import Written

SCORES = "tests/data/mutation_scores.json"
COLUMNS = {
    "claims": "claims",
    "mistakes": "mistakes",
    "right": "right answers",
    "wrong": "wrong answers",
    "mutants": "mutants",
    "equivalent": "same function",
    "alive": "got past",
}


def setup(app):
    """Add the two directives."""
    app.add_directive("claims", Claims)
    app.add_directive("claims-figures", Figures)


class Claims(Written):
    """The exercises of one sheet: what each claims, and which mistakes it knows by name."""

    required_arguments = 1

    def text(self):
        """Write one fold for each exercise."""
        return claims_text(self.arguments[0])


class Figures(Written):
    """The tables of figures: one line for each sheet, and one for each exercise."""

    def text(self):
        """Write the tables."""
        return figures_text(json.loads(self.depend_on(SCORES).read_text("utf-8")))


def claims_text(sheet):
    """Write the claims and mistakes of a sheet's exercises as MyST text."""
    checks = importlib.import_module(f"grader.checks.{sheet}")
    return "\n".join(line for exercise in checks.EXERCISES for line in _fold(exercise))


def _fold(exercise):
    """Write one exercise: a table of claims, then a table of mistakes with their questions."""
    claims = [(claim.name, claim.says) for claim in exercise.claims.values()]
    mistakes = [(mistake.name, mistake.question) for mistake in exercise.mistakes]
    return [
        f"::::{{dropdown}} {exercise.name}",
        *_table(("claim", "what it says"), claims),
        *(_table(("mistake", "the question that the learner reads"), mistakes) if mistakes else ()),
        "::::",
        "",
    ]


def _table(heading, rows):
    """Write a table whose first column is a name in code."""
    lines = [f"| {_code(name)} | {_cell(text)} |" for name, text in rows]
    return [*_framed("claims", [f"| {heading[0]} | {heading[1]} |", "|---|---|", *lines]), ""]


def _framed(kind, lines):
    """Give a table a class, by which the style of the book finds it."""
    return [":::{table}", f":class: {kind}", *lines, ":::"]


def _code(name):
    """Write a name in code that a narrow column may break after its underscores."""
    return f'<code class="literal">{name.replace("_", "_<wbr>")}</code>'


def _cell(text):
    """Write a sentence so that it stays one cell of a table, and no sign in it becomes markup."""
    return "".join(f"\\{sign}" if sign in "|*_$<>[]`" else sign for sign in text.replace("\n", " "))


def figures_text(scores):
    """Write the figures of each sheet as one table, and those of each exercise in a fold."""
    rows = {name: row for exercises in scores.values() for name, row in exercises.items()}
    sums = {_title(sheet): _sums(exercises.values()) for sheet, exercises in scores.items()}
    everything = {"**all together**": _sums(rows.values())}
    exercises = {_code(name): row for name, row in rows.items()}
    return "\n".join(
        [
            *_figures("sheet", sums | everything),
            "::::{dropdown} Exercise by exercise",
            *_figures("exercise", exercises, "figures exercises"),
            "::::",
        ]
    )


def _title(sheet):
    """Write a sheet's name as words."""
    return sheet.replace("_", " ")


def _sums(rows):
    return {key: sum(row[key] for row in rows) for key in COLUMNS}


def _figures(of, rows, kind="figures"):
    """Write rows of figures as a table: of what the figures are stands in the first column."""
    lines = [f"| {' | '.join((of, *COLUMNS.values()))} |", "|---" + "|--:" * len(COLUMNS) + "|"]
    lines += [
        f"| {' | '.join((name, *(str(row[key]) for key in COLUMNS)))} |"
        for name, row in rows.items()
    ]
    return [*_framed(kind, lines), ""]
