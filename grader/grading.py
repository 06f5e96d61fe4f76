"""Marking a class: who is marked, by how many workers, and what is kept of earlier runs."""

import contextlib
import fcntl
import hashlib
import os
import tempfile
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread

from grader.collecting.candidates import answer_ids, find_submission, student_folders
from grader.engine.jail import AUTO
from grader.engine.joining import digest_of, when_submitted
from grader.engine.limits import Limits
from grader.engine.masters import load_masters
from grader.engine.pool import Pool
from grader.engine.reading import bytes_of
from grader.engine.remembering import key_of, recall, remember
from grader.engine.stage import set_stage
from grader.engine.worker import Job, Submission
from grader.errors import UsageError, UserError
from grader.records import (
    FAILED,
    NOT_SUBMITTED,
    Record,
    read_record,
    record_path,
    write_record,
)

LOCK = "records/.lock"


@dataclass(frozen=True)
class Way:
    """How a class is marked.

    Parameters
    ----------
    workers : int, optional
        How many submissions at a time; as many as there are processors otherwise.
    mode : str
        ``"auto"`` or ``"limits"``, as in `grader.engine.jail.Jail`.
    again : bool
        Mark also what was marked already, with the same bytes on both sides.
    seconds : float, optional
        For one cell; what the course's settings say otherwise.
    db : str, optional
        URL of another gradebook.
    """

    workers: int | None = None
    mode: str = AUTO
    again: bool = False
    seconds: float | None = None
    db: str | None = None


@dataclass
class Marked:
    """What marking a class gave.

    Parameters
    ----------
    records : list of Record
        By student.
    asked : int
        How many there should be.
    kept : int
        How many had been marked before.
    troubles : list of str
        What the author of the tests should mend.
    refused : dict
        Name of a folder that can be no student's to the reason.
    """

    records: list = field(default_factory=list)
    asked: int = 0
    kept: int = 0
    troubles: list = field(default_factory=list)
    refused: dict = field(default_factory=dict)

    @property
    def stopped(self):
        """Whether Ctrl-C came before the end."""
        return len(self.records) < self.asked


def mark_all(course, assignment, students=None, way=Way(), watch=None):
    """Mark the submissions of a sheet, and put the marks into the gradebook.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    students : list of str, optional
        Only these; everybody with a folder in ``submitted/`` or in the gradebook otherwise.
    way : Way
        How.
    watch : callable, optional
        Called with the number of students, returns what is called with each record.

    Returns
    -------
    marked : Marked
        Also what was done before Ctrl-C, if that came.

    Raises
    ------
    UserError
        If another run works on this course, or there is no sandbox.
    """
    with only_run(course):
        found = [_find(course, assignment, s) for s in _choose(course, students, way.db)]
        marked = Marked(asked=len(found))
        if not students:
            marked.refused = student_folders(course.folder / "submitted")[1]
        told = watch(len(found)) if watch else lambda record: None
        with contextlib.suppress(KeyboardInterrupt):
            for record in _mark(course, assignment, found, way, marked):
                marked.records.append(record)
                told(record)
        marked.records.sort(key=lambda record: record.student)
        marked.records = _store(course, assignment, marked.records, way.db)
    return marked


@contextlib.contextmanager
def only_run(course):
    """Refuse to work on a course folder beside another run."""
    path = course.folder / LOCK
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as trouble:
            raise UserError(
                f"{course.folder}: another run is marking this course; wait until it has ended"
            ) from trouble
        yield


def _choose(course, students, db):
    """Return the students to mark; ``UsageError`` for one that nobody knows."""
    folders, _ = student_folders(course.folder / "submitted")
    if students and folders.issuperset(students):
        return sorted(set(students))
    from grader.gradebook import read_students

    everybody = {*folders, *read_students(course, db)}
    for student in students or []:
        if student not in everybody:
            raise UsageError(
                f"no student {student!r}: there is no {course.folder / 'submitted' / student}"
            )
    return sorted(set(students or everybody))


def _store(course, assignment, records, db):
    """Put the marks into the gradebook, and keep what it has to say about those by hand."""
    from grader.gradebook import store

    stored = store(course, assignment, records, db)
    for before, after in zip(records, stored, strict=True):
        if after != before:
            write_record(course.folder, after)
    return stored


def _find(course, assignment, student):
    """Find what a student handed in: a `Submission`, or the record that says there is none."""
    folder = course.folder / "submitted" / student / assignment
    files, notes = [], []
    for master in course.masters(assignment):
        try:
            path, told = find_submission(folder, master.name, answer_ids(master.read_bytes()))
            if path is not None:
                path.open("rb").close()
        except OSError as trouble:
            return Record(student, assignment, FAILED, f"it cannot be read: {trouble.strerror}")
        notes += told
        if path is not None:
            files.append((master.stem, path))
    if files:
        return Submission(student, tuple(files), tuple(notes), when_submitted(folder))
    remark = "; ".join(note.text for note in notes) or "nothing handed in"
    return Record(student, assignment, NOT_SUBMITTED, remark, notes=tuple(notes))


def _mark(course, assignment, found, way, marked):
    """Yield records: those that stand, those of who handed in nothing, and the new ones."""
    masters = load_masters(course.folder, assignment)
    todo = []
    for one in found:
        record = one if isinstance(one, Record) else _standing(course, assignment, one, masters)
        if isinstance(one, Record):
            write_record(course.folder, one)
        if record is None or (way.again and one is not record):
            todo.append(one)
        else:
            marked.kept += record is not one
            yield record
    if not todo:
        return
    for master in masters.values():
        master.warm_up()
    with tempfile.TemporaryDirectory(prefix="stage-") as stage:
        limits = _limits(course, way)
        key = key_of(masters, limits, way.mode)
        habits = recall(course.folder, assignment, key)
        job = Job(course.folder, assignment, masters, Path(stage), limits, way.mode, habits)
        size = min(way.workers or os.cpu_count() or 1, len(todo))
        with Pool(job, size, partial(remember, course.folder, assignment, key)) as pool:
            set_stage(job.stage, masters.values())
            pool.begin()
            # It takes a second, in which the workers start: in a thread, which Ctrl-C cannot break.
            Thread(target=import_module, args=["grader.gradebook"], daemon=True).start()
            yield from pool.mark(todo)
            marked.troubles = pool.troubles


def _standing(course, assignment, submission, masters):
    """Return the record of an earlier run, if both sides have the same bytes as then."""
    try:
        record = read_record(record_path(course.folder, assignment, submission.student))
    except (OSError, ValueError):
        return None
    digests = [hashlib.sha256(bytes_of(path)).hexdigest() for _, path in submission.files]
    same = record.submission == digest_of(digests)
    same &= record.master == digest_of(masters[name].digest for name, _ in submission.files)
    return replace(record, submitted=submission.submitted) if same else None


def _limits(course, way):
    """Return the bounds on a submission: the time is the course's own, unless asked otherwise."""
    if way.seconds:
        return Limits(seconds=way.seconds)
    seconds = course.config.get("Execute", {}).get("timeout")
    seconds = seconds or course.config.get("ExecutePreprocessor", {}).get("timeout")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()
