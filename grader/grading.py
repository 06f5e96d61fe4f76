"""Marking a class: who is marked, by how many workers, and what is kept of earlier runs."""

import contextlib
import fcntl
import os
import tempfile
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from threading import Thread

from grader.collecting.candidates import student_folders
from grader.engine.jail import AUTO
from grader.engine.job import Job
from grader.engine.limits import Limits
from grader.engine.masters import load_masters
from grader.engine.pool import Pool
from grader.engine.remembering import key_of, recall, remember
from grader.engine.stage import set_engine, set_library
from grader.errors import UserError
from grader.finding import absent, find, sort
from grader.records import write_record

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
        marked = _mark_class(course, assignment, students, way, watch or _unseen)
        marked.records = _store(course, assignment, marked.records, way.db)
    return marked


def _unseen(total):
    """Watch nothing."""
    return lambda record: None


def _mark_class(course, assignment, students, way, watch):
    """Mark until all is done or Ctrl-C comes; the gradebook loads while the workers start."""
    here, refused = student_folders(course.folder / "submitted")
    masters = load_masters(course.folder, assignment)
    found = find(course, assignment, sorted(here.intersection(students or here)))
    standing, todo, others = sort(course, assignment, found, masters, way.again)
    with _workers(course, assignment, masters, todo, way) as pool:
        missing = absent(course, students, here, way.db)
        others += find(course, assignment, missing)
        marked = Marked(asked=len(found) + len(missing), kept=len(standing))
        told = watch(marked.asked)
        with contextlib.suppress(KeyboardInterrupt):
            for record in chain(standing, _written(course, others), pool.mark(todo)):
                marked.records.append(record)
                told(record)
        marked.troubles = pool.troubles if todo else []
    marked.refused = {} if students else refused
    marked.records.sort(key=lambda record: record.student)
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


def _store(course, assignment, records, db):
    """Put the marks into the gradebook, and keep what it has to say about those by hand."""
    from grader.gradebook import store

    stored = store(course, assignment, records, db)
    for before, after in zip(records, stored, strict=True):
        if after != before:
            write_record(course.folder, after)
    return stored


def _written(course, records):
    """Yield records once they are on disk."""
    for record in records:
        write_record(course.folder, record)
        yield record


@contextlib.contextmanager
def _workers(course, assignment, masters, todo, way):
    """Start workers, and lay down what they need while they start; without work there are none."""
    limits = _limits(course, way)
    key = key_of(masters, limits, way.mode)
    habits = recall(course.folder, assignment, key)
    size = min(way.workers or os.cpu_count() or 1, len(todo))
    with tempfile.TemporaryDirectory(prefix="stage-") as stage:
        job = Job(course.folder, assignment, Path(stage), limits, way.mode, habits)
        set_engine(job.stage)
        with Pool(job, size, partial(remember, course.folder, assignment, key)) as pool:
            if todo:
                for master in masters.values():
                    master.warm_up()
                set_library(job.stage, masters.values())
                pool.begin(masters)
                # In a thread, which Ctrl-C cannot break.
                Thread(target=import_module, args=["grader.gradebook"], daemon=True).start()
            yield pool


def _limits(course, way):
    """Return the bounds on a submission: the time is the course's own, unless asked otherwise."""
    if way.seconds:
        return Limits(seconds=way.seconds)
    seconds = course.config.get("Execute", {}).get("timeout")
    seconds = seconds or course.config.get("ExecutePreprocessor", {}).get("timeout")
    return Limits(seconds=float(seconds)) if isinstance(seconds, int | float) else Limits()
