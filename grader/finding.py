"""Who is to be marked, what they handed in, and which of it is marked already."""

import hashlib
from dataclasses import replace

from grader.collecting.candidates import answer_ids, find_submission
from grader.engine.job import Submission
from grader.engine.joining import digest_of, when_submitted
from grader.engine.reading import bytes_of
from grader.errors import UsageError
from grader.records import FAILED, NOT_SUBMITTED, Record, read_record, record_path


def absent(course, students, here, db):
    """Return who is to be marked and has no folder; ``UsageError`` for one that nobody knows."""
    wanted = set(students or ()) - here
    if students and not wanted:
        return []
    from grader.gradebook import read_students

    known = set(read_students(course, db)) - here
    for student in wanted - known:
        raise UsageError(
            f"no student {student!r}: there is no {course.folder / 'submitted' / student}"
        )
    return sorted(wanted or known)


def find(course, assignment, students):
    """Find what students handed in: a `Submission` each, or the record that says there is none."""
    masters = course.masters(assignment)
    asked = [(path.stem, path.name, answer_ids(path.read_bytes())) for path in masters]
    return [_found(course, assignment, student, asked) for student in students]


def _found(course, assignment, student, asked):
    """Find one student's notebooks."""
    folder = course.folder / "submitted" / student / assignment
    files, notes = [], []
    for stem, name, ids in asked:
        try:
            path, told = find_submission(folder, name, ids)
            if path is not None:
                path.open("rb").close()
        except OSError as trouble:
            return Record(student, assignment, FAILED, f"it cannot be read: {trouble.strerror}")
        notes += told
        if path is not None:
            files.append((stem, path))
    if files:
        return Submission(student, tuple(files), tuple(notes), when_submitted(folder))
    remark = "; ".join(note.text for note in notes) or "nothing handed in"
    return Record(student, assignment, NOT_SUBMITTED, remark, notes=tuple(notes))


def sort(course, assignment, found, masters, again):
    """Return the records that stand, the submissions to mark, and records of those without one."""
    standing, todo, others = [], [], []
    for one in found:
        if isinstance(one, Record):
            others.append(one)
            continue
        record = None if again else _standing(course, assignment, one, masters)
        (todo if record is None else standing).append(record or one)
    return standing, todo, others


def _standing(course, assignment, submission, masters):
    """Return the record of an earlier run, if both sides have the same bytes as then."""
    try:
        record = read_record(record_path(course.folder, assignment, submission.student))
    except (OSError, ValueError):
        return None
    digests = [hashlib.sha256(bytes_of(path)).hexdigest() for _, path in submission.files]
    same = record.submission == digest_of(digests)
    same &= record.master == digest_of(masters[name].digest for name, _ in submission.files)
    return replace(record, submitted=submission.submitted) if same else None
