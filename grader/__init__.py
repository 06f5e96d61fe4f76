"""What marks the course: `check` for learners, and the command line for instructors."""

from grader.ready import ready

__all__ = ["check", "ready"]


def __getattr__(name):
    """Load the checks, and NumPy with them, when they are asked for: most commands need neither."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grader.checks import check

    return check
