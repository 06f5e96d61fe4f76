"""A student's notebook in the sandbox, kept alive: a cell that kills it costs that cell only."""

import time

from grader.engine.far.clock import time_limit
from grader.engine.jail import Lost
from grader.engine.limits import GRACE, LEAST
from grader.engine.link import Link
from grader.records import CRASHED, TIMED_OUT

MOST_REVIVALS = 60


class Student:
    """Runs cells and serves fetches in the sandbox; after a crash the cells before it run again.

    Parameters
    ----------
    jail : Jail
        Where the notebook runs.
    limits : Limits
        Bounds on it.
    lent : dict
        From `grader.engine.withheld.lent`.
    """

    def __init__(self, jail, limits, lent=None):
        self.jail, self.limits, self.lent = jail, limits, lent or {}
        self.spent = 0.0
        self.again = 0.0  # seconds that cells took when they ran again
        self.done = []  # cells that ran to their end, to run again if need be
        self.link = None
        self.revivals = 0
        self.why_lost = ""

    def close(self):
        """End the notebook; `NoSandbox` if it is the sandbox that has ended."""
        if self.link is not None:
            self.lose()
        self.jail.stop()

    def seconds_for(self, wanted=None):
        """Return the time limit of the next cell: less if the notebook has used up its time."""
        wanted = wanted or self.limits.seconds
        return max(LEAST, min(wanted, self.limits.budget - self.spent))

    def run(self, source, seconds=None):
        """Run a cell; return what it showed and its error. `Lost` if that killed the notebook."""
        with self.at_work(seconds) as link:
            result = self._run_for(link, source, link.left)
        kind = (result["error"] or {}).get("type")
        if kind == "TimeUp":
            result["error"]["text"] = self.told_late(seconds)
        elif kind == "MemoryError" and self.jail.memory() > self.limits.memory // 4:
            self.lose()  # what fills the memory would fill it for the cells that follow
        else:
            self.done.append(source)
        return result

    def _run_for(self, link, source, seconds):
        """Run a cell; what is lent to it, and what comes back, takes its time on this side."""
        link.allow(seconds)
        with time_limit(seconds + GRACE) as clock:
            result = link.run(source)
        if clock.error:
            raise Lost(TIMED_OUT, "it had to be stopped")
        return result

    def longest(self, seconds=None):
        """Return the seconds after which a request is over, whatever the notebook does."""
        again = 0.0 if self.link else self.limits.budget + self.limits.seconds
        return self.seconds_for(seconds) + again + 2 * GRACE

    @property
    def used_up(self):
        """Whether the cells have taken all the time that a notebook has."""
        return self.spent >= self.limits.budget

    def told_late(self, seconds=None):
        """Say that the time of a cell was up."""
        return f"timed out after {self.seconds_for(seconds):g} s"

    def at_work(self, seconds=None):
        """Return a context in which the notebook answers for so many seconds."""
        return _AtWork(self, self.seconds_for(seconds))

    def alive(self):
        """Return the link to the notebook; start it, or start it again."""
        while self.link is None:
            self.revivals += 1
            if self.revivals > MOST_REVIVALS:
                raise Lost(CRASHED, "it had to be started too often")
            self.link = Link(self.jail.start(), self._watch_memory)
            self.link.lent = self.lent
            self._run_again()
        return self.link

    def _run_again(self):
        """Run the cells that ran to their end before; forget one that does not do so again."""
        for number, source in enumerate(self.done):
            if self.again > self.limits.budget:
                self.lose()
                raise Lost(CRASHED, "it had to be started again too often")
            started = time.monotonic()
            try:
                self._run_for(self.link, source, self.limits.seconds)
            except Lost:
                del self.done[number]
                self.lose()
                return
            finally:
                self.again += time.monotonic() - started

    def lose(self):
        """Give up the process of the notebook."""
        self.link.close()
        self.link = None

    def _watch_memory(self):
        """End a notebook whose processes together take too much memory."""
        if self.jail.memory() > self.limits.total_memory:
            raise Lost(CRASHED, f"it took more than {self.limits.total_memory} MiB of memory")


class _AtWork:
    """Count time, and give the process up if it is lost."""

    def __init__(self, student, seconds):
        self.student, self.seconds = student, seconds

    def __enter__(self):
        """Start the clock."""
        self.started = time.monotonic()
        link = self.student.alive()
        link.allow(self.seconds)
        return link

    def __exit__(self, kind, trouble, trace):
        """Stop the clock."""
        self.student.spent += time.monotonic() - self.started
        if isinstance(trouble, Lost) and not trouble.lives and self.student.link:
            self.student.lose()
