"""What the checks of a sheet know: claims, mistakes and figures, taken from the checks themselves.

``{claims} rmsnorm`` shows every exercise of the sheet as a fold; ``{claims-figures}`` shows the
table of what ``make checks-report`` measured.
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
    """The table of figures, one line for each exercise."""

    def text(self):
        """Write the table."""
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
    lines = [f"| `{name}` | {_cell(text)} |" for name, text in rows]
    return [*_framed("claims", [f"| {heading[0]} | {heading[1]} |", "|---|---|", *lines]), ""]


def _framed(kind, lines):
    """Give a table a class, by which the style of the book finds it."""
    return [":::{table}", f":class: {kind}", *lines, ":::"]


def _cell(text):
    """Write a sentence so that it stays one cell of a table, and no sign in it becomes markup."""
    return "".join(f"\\{sign}" if sign in "|*_$<>[]`" else sign for sign in text.replace("\n", " "))


def figures_text(scores):
    """Write the figures of all sheets as one table, with the sums of each column below."""
    rows = {name: row for exercises in scores.values() for name, row in exercises.items()}
    sums = {key: sum(row[key] for row in rows.values()) for key in COLUMNS}
    lines = [
        _line("exercise", COLUMNS.values()),
        "|---" + "|--:" * len(COLUMNS) + "|",
        *(_line(f"`{name}`", (row[key] for key in COLUMNS)) for name, row in rows.items()),
        _line("**all together**", (f"**{sums[key]}**" for key in COLUMNS)),
    ]
    return "\n".join(_framed("figures", lines))


def _line(first, others):
    return f"| {first} | {' | '.join(map(str, others))} |"
