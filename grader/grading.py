"""Marking a class: one submission at a time, so that none can stop the others."""

import multiprocessing
import os
import sys
from pathlib import Path

from grader.course import Course
from grader.errors import UsageError, UserError
from grader.outcomes import FAILED, Outcome, as_json, print_table

PATIENCE = 5  # seconds that a worker has for ending by itself


def run(folder, assignment, students=None, json=False):
    """Mark the submissions of one sheet, print the outcomes, and return the exit code.

    Parameters
    ----------
    folder : Path
        The course folder.
    assignment : str
        The sheet.
    students : list of str, optional
        Mark only these; all students with a folder in ``submitted/`` or in the gradebook
        otherwise.
    json : bool
        Print JSON in place of the table.

    Returns
    -------
    exit_code : int
        1 if a submission could not be marked, or the marking was stopped; 0 otherwise.
    """
    course = Course.open(folder)
    course.require_assignment(assignment)
    with Worker(course, assignment) as worker:
        wanted = _choose(students, _all_students(course, worker.known_students), folder)
        outcomes, stopped = _mark_all(worker, wanted)
    if json:
        print(as_json(assignment, outcomes))
    else:
        print_table(assignment, outcomes)
    if stopped:
        print(
            f"stopped: {len(outcomes)} of {len(wanted)} students marked; "
            "the same command marks all of them again",
            file=sys.stderr,
        )
    return int(stopped or any(outcome.status == FAILED for outcome in outcomes))


def _all_students(course, known):
    """Return the ids of students with a folder or a line in the gradebook, sorted."""
    folders = course.folder.glob("submitted/[!.]*")
    return sorted({path.name for path in folders if path.is_dir()}.union(known))


def _choose(students, everybody, folder):
    """Return the students to mark; ``UsageError`` for one that nobody knows."""
    for student in students or []:
        if student not in everybody:
            raise UsageError(
                f"no student {student!r}: there is no {Path(folder, 'submitted', student)}"
            )
    return students or everybody


def _mark_all(worker, students):
    """Mark student after student under a progress bar, until the end or Ctrl-C."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    outcomes = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("marking", total=len(students))
        try:
            for student in students:
                bar.update(task, description=f"marking {escape(student)}")
                outcomes.append(worker.mark(student))
                bar.advance(task)
        except KeyboardInterrupt:
            return outcomes, True
    return outcomes, False


class Worker:
    """A process of its own that marks: nbgrader's noise stays in it, and its death is survived.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    """

    def __init__(self, course, assignment):
        self.job = (course, assignment)

    def __enter__(self):
        """Start the process."""
        self._start()
        return self

    def __exit__(self, *trouble):
        """End the process; the kernel of a notebook that it was running notices, and ends too.

        While a cell runs, nbclient takes the first signal as a wish to end the kernel alone.
        """
        self.pipe.close()
        self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()

    def _start(self):
        """Start the process, and take from it what students the gradebook knows."""
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(far, *self.job), daemon=True)
        self.process.start()
        far.close()
        greeting = self.pipe.recv()
        if isinstance(greeting, Exception):
            raise greeting
        self.known_students = greeting

    def mark(self, student):
        """Return the outcome of one student; a new process takes over if this one dies."""
        self.pipe.send(student)
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self._start()
            return Outcome(student, FAILED, f"the marking process ended with code {code}")


def _serve(pipe, course, assignment):
    """Work in the worker's process: tell who is known, then mark whoever is asked for."""
    _leave_terminal()
    try:
        from grader import marking

        pipe.send(marking.known_students(course))
    except UserError as trouble:
        pipe.send(trouble)
        return
    except Exception as trouble:  # a gradebook can fail in many ways
        pipe.send(
            UserError(f"{course.folder}: {type(trouble).__name__}: {trouble}".splitlines()[0])
        )
        return
    while True:
        pipe.send(marking.mark(course, assignment, pipe.recv()))


def _leave_terminal():
    """Give up the terminal: no noise on it, and no Ctrl-C from it (the parent ends us)."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
