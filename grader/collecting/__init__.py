"""What learners handed in, from wherever it was downloaded, into the course's folder."""

from grader.collecting.candidates import find_submission
from grader.collecting.collect import collect

__all__ = ["collect", "find_submission"]
