"""nbgrader's own gradebook, filled from records and read for everything that is told of a class."""

from grader.gradebook.reading import Mark, read_marks, read_students
from grader.gradebook.storing import store

__all__ = ["Mark", "read_marks", "read_students", "store"]
