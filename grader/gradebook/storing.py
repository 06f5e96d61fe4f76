"""Records of a class into the gradebook, in one transaction."""

from dataclasses import replace
from datetime import UTC

from sqlalchemy import select

from grader import late
from grader.gradebook.connecting import transaction
from grader.gradebook.marks import Marks
from grader.gradebook.master import keep_assignment
from grader.gradebook.tables import (
    ASSIGNMENTS,
    OURS,
    STUDENTS,
    SUBMISSIONS,
    SUBMITTED,
    change,
    insert,
    new_uuid,
)
from grader.records import GRADED


def store(course, assignment, records, db=None):
    """Write the records of a sheet into nbgrader's gradebook: all of them, or none.

    Marks and comments given by hand stay. Where the answer that they were given for has changed,
    the mark waits for a marker again, and the record says so.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    records : iterable of Record
        One a student. Who was not marked keeps what the gradebook has.
    db : str, optional
        URL of another database than the one that the course's settings name.

    Returns
    -------
    records : list of Record
        The same, with a `Note` for each mark or comment by hand whose answer has changed.
    """
    records = list(records)
    graded = [record for record in records if record.status == GRADED]
    policy = late.read_policy(course.folder)
    with transaction(course, db) as connection:
        OURS.create_all(connection)
        kept = keep_assignment(connection, course, assignment)
        _keep_students(connection, [record.student for record in records])
        submissions = _keep_submissions(connection, kept.id, graded)
        notebooks = _keep_notebooks(connection, kept, submissions)
        if policy:
            _keep_lateness(connection, policy, kept, graded, notebooks)
        marks = Marks(connection, assignment, kept, notebooks)
        notes = {record.student: marks.keep(record) for record in graded}
        marks.write()
    return [replace(r, notes=r.notes + tuple(notes.get(r.student, ()))) for r in records]


def _keep_students(connection, students):
    known = set(connection.scalars(select(STUDENTS.c.id)))
    insert(connection, STUDENTS, [{"id": name} for name in students if name not in known])


def _keep_submissions(connection, assignment_id, records):
    """Return the ids of the submissions by student, after making those that are new."""
    table = SUBMISSIONS
    query = select(table.c.student_id, table.c.id).where(table.c.assignment_id == assignment_id)
    known = dict(connection.execute(query).all())
    new = [
        {"id": new_uuid(), "assignment_id": assignment_id, "student_id": record.student}
        for record in records
        if record.student not in known
    ]
    insert(connection, table, new)
    ids = known | {row["student_id"]: row["id"] for row in new}
    times = [{"key": ids[r.student], "timestamp": _timestamp(r)} for r in records]
    change(connection, table, times)
    return {record.student: ids[record.student] for record in records}


def _timestamp(record):
    """Return when it was handed in as nbgrader keeps it: UTC, and not saying so."""
    if record.submitted is None:
        return None
    return late.instant_of(record.submitted).astimezone(UTC).replace(tzinfo=None)


def _keep_notebooks(connection, kept, submissions):
    """Return the ids of the submitted notebooks by student and notebook, new ones made."""
    table = SUBMITTED
    query = select(table.c.assignment_id, table.c.notebook_id, table.c.id)
    query = query.where(table.c.notebook_id.in_(kept.notebooks.values()))
    known = {(row.assignment_id, row.notebook_id): row.id for row in connection.execute(query)}
    ids, new = {}, []
    for student, submission in submissions.items():
        for name, notebook in kept.notebooks.items():
            ids[student, name] = known.get((submission, notebook)) or new_uuid()
            if (submission, notebook) not in known:
                facts = {"assignment_id": submission, "notebook_id": notebook, "flagged": False}
                new.append({"id": ids[student, name], **facts})
    insert(connection, table, new)
    return ids


def _keep_lateness(connection, policy, kept, records, notebooks):
    """Keep when the sheet is due, and each penalty with the first notebook of a submission."""
    if not records:
        return
    due = policy.due.get(records[0].assignment)
    if due:
        local = policy.due_for(records[0].assignment, None)
        instant = late.last_instant(local, policy.timezone).replace(tzinfo=None)
        change(connection, ASSIGNMENTS, [{"key": kept.id, "duedate": instant}])
    first, *others = sorted(kept.notebooks)
    rows = []
    for record in records:
        penalties = {first: policy.penalty(record), **dict.fromkeys(others, 0.0)}
        rows += [
            {"key": notebooks[record.student, name], "late_submission_penalty": points}
            for name, points in penalties.items()
        ]
    change(connection, SUBMITTED, rows)
