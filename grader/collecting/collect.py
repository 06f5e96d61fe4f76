"""Collecting: the newest notebook of each student into ``submitted/``, and all of it reported."""

import csv
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from grader.collecting.candidates import answer_ids, is_notebook
from grader.collecting.entries import Refused, entries_of
from grader.collecting.naming import attempt, is_called, local_name, owners
from grader.errors import UsageError
from grader.files import write_whole
from grader.late import instant_of
from grader.names import why_no_student

NEW, REPLACED, UNCHANGED, NOTHING = "new", "replaced", "unchanged", "nothing found"


@dataclass(frozen=True)
class Collected:
    """What became of one student's files.

    Parameters
    ----------
    student : str
        The student's id, which is the name of the folder.
    status : str
        ``"new"``, ``"replaced"``, ``"unchanged"`` or ``"nothing found"``.
    file : str
        Where the notebook that was kept came from.
    others : tuple of str
        What else there was: older versions, and files that are no such notebook.
    remark : str
        What the instructor should know.
    """

    student: str
    status: str
    file: str = ""
    others: tuple[str, ...] = ()
    remark: str = ""


def collect(course, assignment, sources, times=None):
    """Put the newest notebook of each student into the course folder.

    Parameters
    ----------
    course : Course
        The course folder.
    assignment : str
        The sheet.
    sources : list of Path
        Downloads: folders, zips, single notebooks.
    times : dict, optional
        When each student handed in, ISO 8601 by student; kept for the late policy.

    Returns
    -------
    collected : list of Collected
        Sorted by student.
    refused : list of Refused
        Files that were not taken, or that nobody's name is on.
    """
    for source in sources:
        if not source.exists():
            raise UsageError(f"there is no {source}")
    masters = course.masters(assignment)
    if len(masters) > 1:
        raise UsageError(f"{assignment} has several notebooks, and collect works with one")
    ids = answer_ids(masters[0].read_bytes())
    files, refused = _by_student(course, assignment, sources)
    known = _read_report(course, assignment)
    collected = []
    for student in sorted(files):
        fitting = _fitting(files[student], assignment, ids)
        collected.append(_keep(course, assignment, student, files[student], fitting, known))
    _write_report(course, assignment, known)
    for student, time in (times or {}).items():
        _write_time(course, assignment, student, time)
    return collected, refused


def _by_student(course, assignment, sources):
    """Sort the files of all downloads by student: ``{student: [(owner, entry), …]}``."""
    refused, owned = [], []
    for source in sources:
        entries, bad = entries_of(source)
        refused += bad
        for owner, entry in zip(owners(entries, assignment), entries, strict=True):
            if owner is None:
                if is_notebook(entry.name):
                    refused.append(Refused(entry.path, "nothing in its path names a student"))
            else:
                owned.append((owner, entry))
    names = _student_names([owner for owner, _ in owned], _numbers(course))
    files = defaultdict(list)
    for owner, entry in owned:
        student = names[owner.system, owner.user, owner.name]
        reason = _why_no_folder(student)
        if reason:
            refused.append(Refused(entry.path, reason))
        else:
            files[student].append((owner, entry))
    return files, refused


def _student_names(owners, numbers):
    """Give each owner a student's name; two with the same name get their numbers on top."""
    who = sorted({(owner.system, owner.user, owner.name) for owner in owners})
    names = {}
    for system, user, name in who:
        others = {u for s, u, n in who if n == name and (s, u) != (system, user)}
        others |= {
            u for (s, u), known in numbers.items() if known == name and u != user and s == system
        }
        known = numbers.get((system, user)) if system == "canvas" else None
        names[system, user, name] = known or (f"{name}_{user}" if others and user else name)
    return names


def _numbers(course):
    """Return which student stands behind Canvas's numbers, from what was collected before."""
    numbers = {}
    for report in sorted((course.folder / "collected").glob("*.json")):
        for student, facts in _read_report(course, report.stem).items():
            if facts.get("system") == "canvas":
                numbers["canvas", facts["user"]] = student
    return numbers


def _why_no_folder(student):
    """Say why a name cannot be a folder's that nbgrader can work with."""
    if re.search(r"[/\\\0*?\[\]]", student) or student.startswith(".") or not student.strip():
        return f"{student!r} cannot be the name of a student's folder"
    return why_no_student(student)


def _fitting(files, assignment, ids):
    """Return the notebooks that have cells of the sheet, or else those that have its name."""
    notebooks = [(owner, entry) for owner, entry in files if is_notebook(entry.name)]
    fitting = [(owner, entry) for owner, entry in notebooks if answer_ids(entry.data) & ids]
    return fitting or [(o, e) for o, e in notebooks if is_called(local_name(e), assignment)]


def _keep(course, assignment, student, files, fitting, known):
    """Keep the newest notebook of a student, and say what was done with each file."""
    paths = tuple(entry.path for _, entry in files)
    if not fitting:
        return Collected(student, NOTHING, others=paths, remark=f"no {assignment} among them")
    owner, newest = max(fitting, key=_age)
    before = known.get(student, {})
    path = course.notebook("submitted", student, assignment)
    if _age((owner, newest)) < before.get("age", []) and path.exists():
        remark = f"older than {before['file']}, which stays"
        return Collected(student, UNCHANGED, before["file"], paths, remark)
    status = _put(path, newest.data)
    known[student] = {
        "file": newest.path,
        "age": _age((owner, newest)),
        "system": owner.system,
        "user": owner.user,
        "name": owner.name,
    }
    others = tuple(path for path in paths if path != newest.path)
    return Collected(student, status, newest.path, others, "late, says Canvas" * owner.late)


def _age(owned):
    """Return what orders the files of a student: the system's number, attempt, time."""
    owner, entry = owned
    return [owner.submission, attempt(entry), entry.when.isoformat() if entry.when else ""]


def _put(path, data):
    """Write a notebook, unless these very bytes are there already."""
    for above in (path, path.parent, path.parent.parent):
        if above.is_symlink():
            raise UsageError(f"{above} is a link: remove it, links are not followed")
    before = path.read_bytes() if path.exists() else None
    if before == data:
        return UNCHANGED
    write_whole(path, data)
    return NEW if before is None else REPLACED


def _report_path(course, assignment):
    return course.folder / "collected" / f"{assignment}.json"


def _read_report(course, assignment):
    path = _report_path(course, assignment)
    return json.loads(path.read_text("utf-8"))["students"] if path.exists() else {}


def _write_report(course, assignment, students):
    facts = {"assignment": assignment, "students": students}
    data = json.dumps(facts, ensure_ascii=False, indent=1, sort_keys=True).encode()
    write_whole(_report_path(course, assignment), data)


def read_times(path):
    """Read when students handed in from a CSV with the columns ``student`` and ``submitted``.

    Raises
    ------
    UsageError
        If a column or a time is missing or cannot be read.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    times = {}
    for number, row in enumerate(rows, start=2):
        try:
            instant_of(row["submitted"])
            times[row["student"]] = row["submitted"]
        except (KeyError, ValueError, TypeError) as trouble:
            raise UsageError(
                f"{path}, line {number}: wants the columns student and submitted, with times such "
                "as 2026-10-24T23:59:00+02:00"
            ) from trouble
    return times


def _write_time(course, assignment, student, time):
    """Write when a student handed in to where nbgrader looks for it."""
    folder = course.notebook("submitted", student, assignment).parent
    if folder.is_dir():
        write_whole(folder / "timestamp.txt", f"{time}\n".encode())
