"""A time limit that lets a notebook live: its code is interrupted, what it defined stays."""

import contextlib
import signal


class TimeUp(BaseException):
    """The time of a cell or a call is up; no ``except Exception`` of a student stops it."""


class Clock:
    """Remembers whether the alarm rang.

    Parameters
    ----------
    seconds : float
        The limit.
    """

    def __init__(self, seconds):
        self.seconds = seconds
        self.error = None

    def ring(self, number, frame):
        """Interrupt the code that runs; again and again, in case it holds on."""
        self.error = TimeUp(f"stopped after {self.seconds:g} s")
        raise self.error


@contextlib.contextmanager
def time_limit(seconds):
    """Interrupt the block after so many seconds; the clock that is yielded knows whether it was."""
    clock = Clock(seconds)
    before = signal.signal(signal.SIGALRM, clock.ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), 0.25)
    try:
        yield clock
    except TimeUp:
        clock.error = clock.error or TimeUp()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
