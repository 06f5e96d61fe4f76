"""What a worker is started for, and what it is given to mark."""

from dataclasses import dataclass
from pathlib import Path

from grader.engine.jail import AUTO
from grader.engine.limits import Limits


@dataclass(frozen=True)
class Job:
    """What a worker is started for.

    Parameters
    ----------
    folder : Path
        The course folder.
    assignment : str
        The sheet.
    stage : Path
        What the sandbox shows: from `set_engine`, the library may follow.
    limits : Limits
        Bounds on a submission.
    mode : str
        As in `Jail`.
    habits : dict, optional
        Of the masters, by name of the notebook; found out by the first worker otherwise.
    """

    folder: Path
    assignment: str
    stage: Path
    limits: Limits
    mode: str = AUTO
    habits: dict | None = None


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    Parameters
    ----------
    student : str
        Whose it is.
    files : tuple of (str, Path)
        Name of the notebook and where it is.
    notes : tuple of Note
        What was found on the way to it.
    submitted : str or None
        When, in ISO 8601.
    """

    student: str
    files: tuple
    notes: tuple = ()
    submitted: str | None = None
