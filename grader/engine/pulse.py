"""What a marking fork is doing just now, for its parent to see, and how the parent waits for it."""

import mmap
import os
import select
import signal
import struct
import time

STATE = struct.Struct("<id")
NOTHING = -1
GLANCE = 0.25  # seconds between two looks
PATIENCE = 5.0  # seconds after the soft limit of a test: an alarm cannot stop what is compiled


class Pulse:
    """A page of memory that both processes see: the test that runs, and when it must have ended.

    Parameters
    ----------
    names : sequence of str
        Names of all graded cells.
    whole : float
        Seconds for the whole submission, whatever it does.
    """

    def __init__(self, names=(), whole=None):
        self.names = list(names)
        self.given_up = {}  # name of a cell that ended the marking process, to why it is lost
        self.whole = whole
        self.page = mmap.mmap(-1, STATE.size)

    def begin(self, name, seconds):
        """Say that a test starts, and how long it may take."""
        self._tell(self.names.index(name), time.monotonic() + seconds + PATIENCE)

    def end(self):
        """Say that no test is running."""
        self._tell(NOTHING, 0.0)

    def _tell(self, number, deadline):
        self.page[:] = STATE.pack(number, deadline)

    @property
    def testing(self):
        """Name of the test that is running, if one is."""
        number, _ = STATE.unpack(self.page[:])
        return None if number == NOTHING else self.names[number]

    def late(self, started):
        """Tell whether the test, or all of it, has taken more time than it has."""
        number, deadline = STATE.unpack(self.page[:])
        now = time.monotonic()
        return (number != NOTHING and now > deadline) or now > started + self.whole


def hear(fd, pid, pulse):
    """Read what a fork has to say until it ends; kill it if it is late.

    Parameters
    ----------
    fd : int
        The end of a pipe to read from; it is closed.
    pid : int
        The fork.
    pulse : Pulse
        Shared with it.

    Returns
    -------
    data : bytes or None
        What it said; ``None`` if it did not end as it should.
    late : bool
        Whether it was killed.
    """
    started, late, parts = time.monotonic(), False, []
    with os.fdopen(fd, "rb", buffering=0) as file:
        while not late:
            if select.select([file], [], [], GLANCE)[0]:
                parts.append(file.read(1 << 20))
                if not parts[-1]:
                    break
            late = pulse.late(started)
    if late:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return (b"".join(parts) if status == 0 else None), late
