"""Workers side by side: whoever is free takes the next submission."""

import contextlib
import multiprocessing
from dataclasses import replace
from multiprocessing.connection import wait

from grader.engine import worker
from grader.engine.jail import NoSandbox
from grader.errors import UserError
from grader.records import FAILED, Record

PATIENCE = 5  # seconds that a worker has for ending by itself
NOT_HERE = (
    "there is no sandbox here: {why}. Install bubblewrap (sudo apt install bubblewrap) and see: "
    "python -m grader doctor. To mark without it, with students' code able to read your files, "
    "add: --sandbox=limits"
)

BAD_MASTER = (
    "{sheet} cannot be marked by its own tests: {why}. Mend source/{sheet} and run the command "
    "again; nobody was marked"
)


class _Hand:
    """One worker as its parent sees it."""

    def __init__(self, job, learns=True):
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=worker.serve, args=(far, job, learns), daemon=True)
        self.process.start()
        far.close()
        self.submission = None
        self.ready = False

    def begin(self, masters):
        """Tell it by which masters it marks."""
        with contextlib.suppress(OSError):  # one that has died is noticed later
            self.pipe.send(masters)

    def give(self, submission):
        self.submission = submission
        self.pipe.send(submission)

    def end(self):
        self.pipe.close()
        self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


class Pool:
    """Marks submissions with several workers.

    Parameters
    ----------
    job : Job
        What every worker is started for.
    size : int
        How many there are.
    learned : callable
        Called with the habits that the first worker found out.
    """

    def __init__(self, job, size, learned=lambda habits: None):
        self.job, self.size, self.learned = job, size, learned
        self.hands, self.masters = [], None

    def __enter__(self):
        """Start the workers and their sandboxes; they wait for `begin`."""
        self.hands = [_Hand(self.job, number == 0) for number in range(self.size)]
        return self

    def begin(self, masters):
        """Tell the workers by which masters they mark.

        Parameters
        ----------
        masters : dict
            From `load_masters`.
        """
        self.masters = masters
        for hand in self.hands:
            hand.begin(masters)

    def __exit__(self, *trouble):
        """End the workers, and with them everything that they started."""
        for hand in self.hands:
            hand.end()

    @property
    def troubles(self):
        """What the author of the tests should know."""
        return [
            f"{cell} looks at what does not leave the sandbox: it runs inside"
            for habits in (self.job.habits or {}).values()
            for cell in sorted(habits.sandboxed)
        ]

    def mark(self, submissions):
        """Yield the records of submissions as they are done."""
        waiting = list(reversed(submissions))
        left = len(submissions)
        while left:
            by_pipe = {hand.pipe: hand for hand in self.hands}
            for pipe in wait(list(by_pipe)):
                record = self._hear(by_pipe[pipe], waiting)
                if record is not None:
                    left -= 1
                    yield record

    def _hear(self, hand, waiting):
        """Take what a worker says, give it the next submission, and return a record if one came."""
        try:
            said = hand.pipe.recv()
        except (EOFError, OSError):
            return self._replace(hand)
        if isinstance(said, NoSandbox):
            raise UserError(NOT_HERE.format(why=said))
        if isinstance(said, worker.BadMaster):
            raise UserError(BAD_MASTER.format(sheet=self.job.assignment, why=said))
        record = None if not hand.ready else said
        if not hand.ready:
            self._learn(said)
        hand.ready, hand.submission = True, None
        if waiting:
            hand.give(waiting.pop())
        return record

    def _learn(self, habits):
        """Tell all workers what the first one has found out."""
        if self.job.habits is None:
            self.job = replace(self.job, habits=habits)
            self.learned(habits)
            for other in self.hands[1:]:
                with contextlib.suppress(OSError):
                    other.pipe.send(habits)

    def _replace(self, hand):
        """Start a worker in the place of one that died; its submission is told as not marked."""
        if not hand.ready:
            raise UserError("a marking process ended before it could begin: is memory left?")
        hand.process.join()
        self.hands[self.hands.index(hand)] = other = _Hand(self.job)
        other.begin(self.masters)
        if hand.submission is None:
            return None
        return Record(
            hand.submission.student,
            self.job.assignment,
            FAILED,
            f"the marking process ended with code {hand.process.exitcode}",
        )
