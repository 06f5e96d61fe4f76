"""The tables: nbgrader's own, and two beside them that nbgrader does not know.

``grader_answer`` holds which answer a mark or comment was given for, so that one given by hand is
looked at again when the answer has changed, and only then. ``grader_master`` holds which master
the cells of a notebook were last read from.
"""

import sqlalchemy
from nbgrader import api
from nbgrader.api import new_uuid  # noqa: F401 (how nbgrader names its rows)
from sqlalchemy import Column, MetaData, String, Table

OURS = MetaData()
ANSWERS = Table(
    "grader_answer",
    OURS,
    Column("id", String(32), primary_key=True),  # of the grade or the comment
    Column("digest", String(128), nullable=False),
)
MASTERS = Table(
    "grader_master",
    OURS,
    Column("id", String(32), primary_key=True),  # of the notebook
    Column("digest", String(64), nullable=False),
)

STUDENTS = api.Student.__table__
ASSIGNMENTS = api.Assignment.__table__
NOTEBOOKS = api.Notebook.__table__
CELLS = api.BaseCell.__table__
SUBMISSIONS = api.SubmittedAssignment.__table__
SUBMITTED = api.SubmittedNotebook.__table__
GRADES = api.Grade.__table__
COMMENTS = api.Comment.__table__

GRADED_KINDS = ("GradeCell", "TaskCell")
COMMENTED_KINDS = ("SolutionCell", "TaskCell")


def insert(connection, table, rows):
    """Insert rows, all in one go."""
    if rows:
        connection.execute(sqlalchemy.insert(table), rows)


def change(connection, table, rows):
    """Change the rows whose ids are given as ``key``, all in one go."""
    if rows:
        by_key = table.c.id == sqlalchemy.bindparam("key")
        connection.execute(sqlalchemy.update(table).where(by_key), rows)
