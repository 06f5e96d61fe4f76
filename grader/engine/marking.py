"""Marking one submission: from its bytes to a record and the autograded notebook."""

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from functools import partial

from grader.engine import roles
from grader.engine.aligning import align
from grader.engine.composing import compose, error_output, outputs_of, shown_by_test, stream
from grader.engine.habits import test_inside
from grader.engine.jail import Lost
from grader.engine.reading import LARGEST, Unreadable, read
from grader.engine.remembering import Habits
from grader.engine.student import Student
from grader.engine.suspicions import suspicions
from grader.engine.telling import why_failed
from grader.engine.testing import Tester, Verdict
from grader.records import (
    CRASHED,
    FAILED,
    GRADED,
    TIMED_OUT,
    UNTOUCHED,
    WAITING,
    WRONG,
    AnswerRecord,
    CellRecord,
    Note,
    Record,
)

NO_TIME = "not run: the other cells have taken the time that the notebook has"
MOST_CODE = 500_000  # characters of one cell: to parse more takes minutes, and memory
TOO_LONG = f"not run: a cell has {MOST_CODE} characters at the most"
GIVEN_UP = {
    TIMED_OUT: "The test did not come to an end and could not be interrupted.",
    CRASHED: "The test ended the marking process with what the answer returned.",
}
NO_ROOM = "The outputs are cut here: there were too many.\n"


@dataclass
class _Marking:
    """What is known while one submission is marked."""

    master: object
    habits: Habits
    student: Student
    tester: Tester
    notes: list
    pulse: object = None
    shown: dict = field(default_factory=dict)
    cells: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)  # name of a cell to what was handed in for it
    fates: dict = field(default_factory=dict)  # name of an answer to "timed out" or "crashed"
    room: int = LARGEST  # characters of outputs that are kept


def mark(master, data, jail, limits, habits, student="", assignment="", notebook="", pulse=None):
    """Mark one submission.

    Parameters
    ----------
    master : Master
        It decides.
    data : bytes
        What was handed in.
    jail, limits : Jail, Limits
        Where the student's code runs, and bounds on it.
    habits : Habits
        From `learn_habits`.
    student, assignment, notebook : str
        For the record.
    pulse : Pulse, optional
        Says which test runs, and which ones are given up.

    Returns
    -------
    record : Record
        Marks, and everything that an instructor should know.
    notebook : bytes or None
        The autograded notebook; ``None`` if the submission could not be read.
    """
    started = time.monotonic()
    facts = {
        "student": student,
        "assignment": assignment,
        "submission": hashlib.sha256(data).hexdigest(),
        "master": master.digest,
    }
    try:
        placed, notes = align(master, read(data))
    except Unreadable as trouble:
        remark = f"not a readable notebook: {trouble}"
        return Record(status=FAILED, remark=remark, **facts), None
    runner = Student(jail, limits, master.lent)
    tester = Tester(master, runner, habits.may_write)
    marking = _Marking(master, habits, runner, tester, notes, pulse)
    try:
        _run_all(marking, placed)
    finally:
        runner.close()
    cells = (marking.cells[cell.name] for cell in master.scored)
    record = Record(
        status=GRADED,
        cells=tuple(replace(cell, notebook=notebook) for cell in cells),
        answers=tuple(_answers(marking, notebook)),
        notes=tuple(notes),
        seconds=time.monotonic() - started,
        **facts,
    )
    return record, compose(master, placed, marking.shown)


def _answers(marking, notebook):
    """Record every answer that was asked for."""
    for cell in marking.master.cells:
        if cell.meta.get("solution"):
            answer = marking.answers[cell.name]
            yield AnswerRecord(cell.name, _digest([answer]), answer.untouched, notebook)


def _run_all(marking, placed):
    """Run the cells of a notebook in their order."""
    for cell in placed:
        if cell.master is not None and cell.master.role in (roles.ANSWER, roles.HAND):
            marking.answers[cell.master.name] = cell
    for number, cell in enumerate(placed):
        role = cell.master.role if cell.master is not None else roles.FREE
        if role == roles.HAND:
            marking.cells[cell.master.name] = _waiting(cell)
        if role == roles.GRADED:
            _grade(marking, number, cell.master)
        elif cell.kind == "code" and cell.source.strip():
            _run_cell(marking, number, cell)


def _run_cell(marking, number, cell):
    """Run a cell in the sandbox and keep what it showed."""
    name, seconds = None, None
    if len(cell.source) > MOST_CODE:
        marking.shown[number] = [error_output("TooLong", TOO_LONG)]
        _remember_fate(marking, cell, None, TOO_LONG)
        return
    if cell.master is not None:
        name, seconds = cell.master.name, cell.master.seconds
    if cell.master is None or not (cell.master.role == roles.LOCKED or cell.untouched):
        marking.notes.extend(suspicions(name, cell.source))
    if cell.master is None and marking.student.used_up:
        marking.shown[number] = [error_output("TimeLimit", NO_TIME)]
        return
    try:
        result = marking.student.run(cell.source, seconds)
    except Lost as lost:
        late = lost.outcome == TIMED_OUT
        why = marking.student.told_late(seconds) if late else f"the cell stopped it: {lost.why}"
        marking.shown[number] = [error_output("TimeLimit" if late else "Stopped", why)]
        _remember_fate(marking, cell, lost.outcome, why)
        return
    marking.shown[number] = _kept(marking, outputs_of(result, number))
    error = result["error"]
    if error is None:
        return
    if error["type"] == "TimeUp":
        _remember_fate(marking, cell, TIMED_OUT, error["text"])
    else:
        _remember_fate(marking, cell, None, why_failed(error, [*marking.student.done, cell.source]))


def _kept(marking, outputs):
    """Keep outputs while there is room for them: the far side may send more than it should."""
    marking.room -= len(json.dumps(outputs))
    return outputs if marking.room > 0 else [stream(NO_ROOM, "stderr")]


def _remember_fate(marking, cell, outcome, why):
    """Let the claims on an answer know that its cell did not run to its end."""
    if cell.master is None:
        return
    if outcome is not None:
        marking.fates[cell.master.name] = outcome
        name = cell.master.name
        marking.notes.append(Note(outcome, name, f"{name}: {why}."))
    for name in cell.master.names[0]:
        marking.tester.broken[name] = why.splitlines()[0] if why else "its cell failed"


def _waiting(cell):
    """Record a cell that is marked by hand: waiting, or nothing if it was not touched."""
    master = cell.master
    untouched = cell.untouched and not master.meta.get("task")
    return CellRecord(
        name=master.name,
        label=master.label if master.kind == "code" else master.name,
        outcome=UNTOUCHED if untouched else WAITING,
        points=0.0 if untouched else None,
        max_points=master.points,
        answer=_digest([cell]),
        by_hand=True,
    )


def _grade(marking, number, cell):
    """Run a graded cell where it belongs, and record what became of it."""
    trusted = cell.name not in marking.habits.sandboxed
    verdict = _verdict(marking, cell, trusted)
    judged = [a for a in marking.master.answers_of(cell) if a.name in marking.answers]
    handed_in = [marking.answers[a.name] for a in judged]
    outcome = _outcome(marking, verdict, handed_in)
    if verdict.author_error:
        marking.notes.append(Note("test", cell.name, verdict.author_error))
    marking.shown[number] = shown_by_test(verdict, cell)
    marking.cells[cell.name] = CellRecord(
        name=cell.name,
        label=cell.label,
        outcome=outcome,
        points=verdict.share * cell.points,
        max_points=cell.points,
        sentence=verdict.sentence,
        mistakes=verdict.mistakes,
        answer=_digest(handed_in),
        seconds=round(verdict.seconds, 4),
        trusted=trusted,
    )


def _verdict(marking, cell, trusted):
    """Run a test, and let the parent process see that it runs: it may hang or end this process."""
    test = marking.tester.test if trusted else partial(test_inside, marking.student)
    pulse = marking.pulse
    if pulse is None:
        return test(cell)
    if cell.name in pulse.given_up:
        why = GIVEN_UP[pulse.given_up[cell.name]]
        marking.notes.append(Note("test", cell.name, f"{cell.name}: {why}"))
        return Verdict(pulse.given_up[cell.name], sentence=why)
    pulse.begin(cell.name, marking.student.longest(cell.seconds))
    verdict = test(cell)
    pulse.end()
    return verdict


def _outcome(marking, verdict, handed_in):
    """Say what became of a claim: an untouched answer or one that never ended is told as that."""
    if verdict.outcome != WRONG or verdict.share:
        return verdict.outcome
    if handed_in and all(cell.untouched for cell in handed_in):
        return UNTOUCHED
    fates = [marking.fates.get(cell.master.name) for cell in handed_in]
    return next(filter(None, fates), WRONG)


def _digest(cells):
    """Digest the answers that a claim judges."""
    text = "\0".join(cell.source for cell in cells)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
