"""Bounds on one submission."""

from dataclasses import dataclass

GRACE = 1.0  # seconds after a limit in which interrupted code may give its answer
LEAST = 1.0  # seconds that every cell gets, however much time the others took


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    seconds : float
        For one cell; a master's cell may ask for more with the tag ``time-limit-120``.
    cells_in_full : int
        How many times ``seconds`` all cells of a notebook may take together.
    memory : int
        MiB of address space of each process, beside what the warm one has already.
    total_memory : int
        MiB in use by all processes of a notebook together.
    processes : int
        Processes and threads at a time.
    file : int
        MiB of one file, and of the scratch folder.
    """

    seconds: float = 30.0
    cells_in_full: int = 6
    memory: int = 2048
    total_memory: int = 3072
    processes: int = 40
    file: int = 64

    @property
    def budget(self):
        """Seconds for all cells of a notebook together."""
        return self.seconds * self.cells_in_full
