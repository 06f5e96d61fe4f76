"""What marks the course: `check` for learners, and the command line for instructors."""

from grader.checks import check
from grader.ready import ready

__all__ = ["check", "ready"]
