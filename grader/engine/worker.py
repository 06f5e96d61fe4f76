"""A worker: one process of the trusted side and one sandbox; a fork of it marks each submission."""

import gc
import os
import pickle
from dataclasses import replace

from grader.engine.jail import Jail, NoSandbox
from grader.engine.joining import join
from grader.engine.processes import bound_memory, die_with_parent, leave_terminal
from grader.engine.pulse import Pulse, hear
from grader.engine.reading import bytes_of
from grader.engine.remembering import kept_in
from grader.files import write_whole
from grader.records import CRASHED, FAILED, TIMED_OUT, Record, write_record

TRIES = 2  # a computer's trouble is tried again once, and is never a student's
OTHER_WORK = 120  # seconds of a notebook beside its cells: reading, aligning, starting


def serve(pipe, job, learns=True):
    """Work in the worker's process: hear the masters and their habits, then mark what is sent.

    The sandbox starts first, for it takes longest.
    """
    die_with_parent()
    leave_terminal()
    try:
        with _Workshop(job) as workshop:
            workshop.get_ready(pipe.recv())
            workshop.jail.wait_until_ready()
            workshop.habits = job.habits or (workshop.learn() if learns else pipe.recv())
            pipe.send(workshop.habits)
            gc.collect()
            gc.freeze()  # forks need not look at, and so copy, what was there before them
            while True:
                pipe.send(workshop.mark(pipe.recv()))
                workshop.draw_ahead()
    except (NoSandbox, BadMaster) as trouble:
        pipe.send(trouble)
    except EOFError:
        return


class BadMaster(Exception):
    """The master's own answers do not pass its tests: nobody can be marked by them."""


class _Workshop:
    """A sandbox, the masters, and what was learned about them."""

    def __init__(self, job):
        self.job, self.masters, self.habits = job, {}, None
        self.drawn = ()  # what the last fork has drawn of the checks' inputs

    def __enter__(self):
        """Start the sandbox, which is ready a little later."""
        self.jail = self._new_jail()
        return self

    def get_ready(self, masters):
        """Take the masters, and load NumPy and the checks, once for all forks."""
        self.masters = masters
        from grader import checks
        from grader.engine import habits, marking, remarks, testing  # noqa: F401

        if self.job.assignment in checks.SHEETS:
            checks.exercises()
        for master in masters.values():
            testing.compile_tests(master)

    def __exit__(self, *trouble):
        """End the sandbox."""
        self.jail.__exit__(*trouble)

    def learn(self):
        """Find out how the masters' tests have to be run; `BadMaster` if their answers fail."""
        from grader.engine.habits import learn_habits

        found = {
            name: learn_habits(master, self.jail, self.job.limits)
            for name, master in self.masters.items()
        }
        troubles = [told for habits in found.values() for told in habits.troubles]
        if troubles:
            raise BadMaster("; ".join(troubles))
        return found

    def _new_jail(self):
        given = self.job.folder / "release" / self.job.assignment
        given = given if given.is_dir() else None
        cache = kept_in(self.job.folder) / "matplotlib"
        cache.mkdir(parents=True, exist_ok=True)
        return Jail(self.job.stage, self.job.limits, given, self.job.mode, cache).__enter__()

    def mark(self, submission):
        """Mark in a fork, and return the record.

        Trouble of the computer's is tried again. A test that hangs, or that ends the marking
        process each time, is given up: it costs its own points and nothing else.
        """
        names = [cell.name for master in self.masters.values() for cell in master.scored]
        pulse, failures = Pulse(names, self._whole_time()), 0
        while failures < TRIES:
            pulse.end()
            record, late = self._mark_in_fork(submission, pulse)
            if record is not None:
                return record
            self.jail.__exit__()
            self.jail = self._new_jail()
            failures += 1
            if pulse.testing and (late or failures == TRIES):
                pulse.given_up[pulse.testing] = TIMED_OUT if late else CRASHED
                failures = 0
        return self._not_marked(submission)

    def _whole_time(self):
        """Return the seconds after which a submission is given up, whatever it does."""
        asked = sum(cell.seconds or 0 for m in self.masters.values() for cell in m.cells)
        return len(self.masters) * (OTHER_WORK + 3 * self.job.limits.budget) + asked

    def _not_marked(self, submission):
        """Keep a record that says that a submission could not be marked."""
        return self._keep(
            Record(
                submission.student,
                self.job.assignment,
                FAILED,
                "it could not be marked: the marking process ended twice",
                notes=submission.notes,
            ),
            {},
        )

    def draw_ahead(self):
        """Draw what the last fork had to draw anew: the forks after it find it there."""
        from grader.checks import find_exercise
        from grader.checks.engine.drawing import draw_again

        draw_again(self.drawn, find_exercise)
        self.drawn = ()

    def _mark_in_fork(self, submission, pulse):
        from grader.checks.engine import drawing

        here, there = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                die_with_parent()
                os.close(here)
                bound_memory(self.job.limits.total_memory)
                data = pickle.dumps((self._mark(submission, pulse), drawing.take_fresh()))
                with os.fdopen(there, "wb") as file:
                    file.write(data)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(there)
        data, late = hear(here, pid, pulse)
        self.jail.ready = True  # the fork waited until the server had ended the notebook
        record, self.drawn = (None, ()) if data is None else pickle.loads(data)  # of our own fork
        return record, late

    def _mark(self, submission, pulse):
        """Mark all notebooks of a submission and keep what came of it on disk."""
        from grader.engine.marking import mark
        from grader.engine.remarks import remark_on

        records, notebooks = [], {}
        for name, path in submission.files:
            record, notebook = mark(
                self.masters[name],
                bytes_of(path),
                self.jail,
                self.job.limits,
                self.habits[name],
                submission.student,
                self.job.assignment,
                "" if name == self.job.assignment else name,
                pulse,
            )
            records.append(record)
            notebooks[name] = notebook
        record = join(records, submission)
        if record.status != FAILED:
            record = replace(record, remark=remark_on(record))
        return self._keep(record, notebooks)

    def _keep(self, record, notebooks):
        """Write the autograded notebooks, then the record, which says that all is done."""
        place = self.job.folder / "autograded" / record.student / self.job.assignment
        for name, data in notebooks.items():
            path = place / f"{name}.ipynb"
            if data is None:
                path.unlink(missing_ok=True)
            else:
                write_whole(path, data)
        write_record(self.job.folder, record)
        return record
