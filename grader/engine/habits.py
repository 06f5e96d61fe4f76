"""How a master's tests have to be run: found out by running them on the master's own answers."""

import time

from grader.engine import roles
from grader.engine.aligning import align
from grader.engine.jail import Lost
from grader.engine.reading import read
from grader.engine.remembering import Habits
from grader.engine.student import Student
from grader.engine.testing import Tester, Verdict, uses_check
from grader.records import PASSED, TIMED_OUT, WRONG


def learn_habits(master, jail, limits):
    """Run the master's tests on its own answers, and learn how they have to be run."""
    runner = Student(jail, limits, master.lent)
    tester = Tester(master, runner, frozenset(cell.name for cell in master.scored))
    placed, _ = align(master, read(master.as_handed_in()))
    verdicts, inside = {}, {}
    try:
        for cell in placed:
            if cell.master is not None and cell.master.role == roles.GRADED:
                name, verdict = cell.master.name, tester.test(cell.master)
                verdicts[name] = verdict
                if verdict.share < 1 and not (verdict.author_error or uses_check(cell.master)):
                    inside[name] = test_inside(runner, cell.master)
            elif cell.kind == "code" and cell.source.strip():
                _run(runner, tester, cell)
    finally:
        runner.close()
    judged = verdicts | inside
    return Habits(
        sandboxed=frozenset(name for name, verdict in inside.items() if verdict.share == 1),
        may_write=frozenset(name for name, v in verdicts.items() if v.wrote),
        troubles=tuple(_trouble(n, v) for n, v in judged.items() if v.share < 1),
    )


def _run(runner, tester, cell):
    """Run a cell of the master's; what it should have defined is missing if it fails."""
    why = None
    try:
        error = runner.run(cell.source, cell.master.seconds if cell.master else None)["error"]
        why = error and f"its cell raised {error['type']}: {error['text']}"
    except Lost as lost:
        why = f"the cell stopped it: {lost.why}"
    for name in cell.master.names[0] if why and cell.master else ():
        tester.broken[name] = why.splitlines()[0]


def _trouble(name, verdict):
    """Say in a line what the author of a test should mend."""
    told = verdict.author_error or f"the master's own answer fails {name}: {verdict.sentence}"
    return told.splitlines()[0]


def test_inside(student, cell):
    """Run a graded cell in the sandbox alone: what it says is what the student's code lets it."""
    started = time.monotonic()
    try:
        result = student.run(cell.source, cell.seconds)
    except Lost as lost:
        return Verdict(lost.outcome, sentence=f"The notebook stopped: {lost.why}.")
    error = result["error"]
    if error is None:
        return Verdict(PASSED, 1.0, seconds=time.monotonic() - started)
    outcome = TIMED_OUT if error["type"] == "TimeUp" else WRONG
    text = error["text"].splitlines()[0] if error["text"] and not cell.hides else ""
    sentence = f"{error['type']}: {text}" if text else "A hidden test fails."
    return Verdict(outcome, sentence=sentence, seconds=time.monotonic() - started)
