"""The gradebook: filled at once, read by nbgrader, and careful with what people entered."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from classes import ANSWERS, GRADED_CELLS, IN_WORDS, SHEET, make_small_course, record
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from postgres import running_postgres

from grader import gradebook
from grader.course import Course
from grader.errors import UserError
from grader.gradebook import connecting
from grader.records import FAILED, NOT_SUBMITTED, Record

pytestmark = pytest.mark.marking
BIN = Path(sys.executable).parent
FULL = {name: meta["points"] for name, meta in GRADED_CELLS.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    course = make_small_course(folder / "otoño 1", folder)
    gradebook.store(Course.open(course), SHEET, [])
    return course


@pytest.fixture
def course(made, tmp_path):
    return Course.open(shutil.copytree(made, tmp_path / "una copia"))


@pytest.fixture(scope="session")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def stored_once(made, postgres):
    """A database on the server into which an empty class was stored: making one takes seconds."""
    url = postgres.new_database()
    gradebook.store(Course.open(made), SHEET, [], url)
    return url.partition("@/")[2].partition("?")[0]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def book(request, course):
    """A course and the URL of its gradebook, in both kinds of database."""
    if request.param == "SQLite":
        return course, None
    like = request.getfixturevalue("stored_once")
    return course, request.getfixturevalue("postgres").new_database(like)


def opened(course, db):
    """Open the gradebook as nbgrader's own programs do."""
    return Gradebook(db or course.directory().db_url, course.directory().course_id)


def grades(course, db, student):
    """Return nbgrader's own view of a student's grades."""
    with opened(course, db) as book:
        found = book.find_submission_notebook(SHEET, SHEET, student).grades
        return {grade.name: grade.to_dict() for grade in found}


def comments(course, db, student):
    with opened(course, db) as book:
        found = book.find_submission_notebook(SHEET, SHEET, student).comments
        return {comment.name: comment.to_dict() for comment in found}


def mark_by_hand(course, db, student, cell, points, text=None):
    """Do what formgrader does when a marker enters points and a comment."""
    with opened(course, db) as book:
        grade = book.find_grade(cell, SHEET, SHEET, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        if text:
            book.find_comment(cell, SHEET, SHEET, student).manual_comment = text
        book.db.commit()


def test_nbgrader_finds_every_mark_where_it_would_have_put_it(book):
    course, db = book
    lost = ("rmsnorm_forward-eps", "half_rms-value")
    gradebook.store(course, SHEET, [record("zoë <b>", lost), record("bob", untouched=True)], db)
    zoe, bob = (grades(course, db, student) for student in ("zoë <b>", "bob"))
    assert {name: grade["auto_score"] for name, grade in zoe.items()} == {
        name: None if name == IN_WORDS else 0 if name in lost else points
        for name, points in FULL.items()
    }
    assert [name for name, grade in zoe.items() if grade["needs_manual_grade"]] == [IN_WORDS]
    assert {name: grade["max_score"] for name, grade in bob.items()} == FULL
    assert not any(grade["auto_score"] for grade in bob.values())
    assert not any(grade["needs_manual_grade"] for grade in bob.values())


def test_untouched_answers_get_nbgraders_own_comment(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana"), record("bob", untouched=True)], db)
    told = {name: comment["auto_comment"] for name, comment in comments(course, db, "bob").items()}
    assert told == dict.fromkeys(ANSWERS, "No response.")
    assert {c["auto_comment"] for c in comments(course, db, "ana").values()} == {None}


def test_marking_again_replaces_marks_and_doubles_nothing(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana"), record("bob")], db)
    gradebook.store(course, SHEET, [record("ana", ["half_rms-value"]), record("carl")], db)
    assert grades(course, db, "ana")["half_rms-value"]["auto_score"] == 0
    with opened(course, db) as opened_book:
        assert sorted(student.id for student in opened_book.students) == ["ana", "bob", "carl"]
        assert len(opened_book.assignment_submissions(SHEET)) == 3


def test_a_mark_by_hand_stays_settled_while_its_answer_is_the_same(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)
    mark_by_hand(course, db, "ana", IN_WORDS, 4.5, "Say why.")
    (again,) = gradebook.store(course, SHEET, [record("ana", ["half_rms-value"])], db)
    grade = grades(course, db, "ana")[IN_WORDS]
    assert (grade["manual_score"], grade["needs_manual_grade"]) == (4.5, False)
    assert comments(course, db, "ana")[IN_WORDS]["manual_comment"] == "Say why."
    assert again.notes == ()


def test_a_mark_by_hand_is_looked_at_again_when_its_answer_has_changed(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)
    mark_by_hand(course, db, "ana", IN_WORDS, 4.5, "Say why.")
    other = record("ana", answers={IN_WORDS: "because"})
    (again,) = gradebook.store(course, SHEET, [other], db)
    grade = grades(course, db, "ana")[IN_WORDS]
    assert (grade["manual_score"], grade["needs_manual_grade"]) == (4.5, True)
    assert comments(course, db, "ana")[IN_WORDS]["manual_comment"] == "Say why."
    assert [(note.kind, note.cell, note.text) for note in again.notes] == [
        ("mark by hand", IN_WORDS, f"the answer has changed since {IN_WORDS} was {done} by hand")
        for done in ("marked", "commented")
    ]
    gradebook.store(course, SHEET, [other], db)
    assert grades(course, db, "ana")[IN_WORDS]["needs_manual_grade"]  # nobody has looked yet
    mark_by_hand(course, db, "ana", IN_WORDS, 6)
    gradebook.store(course, SHEET, [other], db)
    assert not grades(course, db, "ana")[IN_WORDS]["needs_manual_grade"]


def test_a_mark_by_hand_overrules_a_check_until_the_answer_changes(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana", ["half_rms-value"])], db)
    mark_by_hand(course, db, "ana", "half_rms-value", 3)
    gradebook.store(course, SHEET, [record("ana")], db)
    grade = grades(course, db, "ana")["half_rms-value"]
    assert (grade["manual_score"], grade["needs_manual_grade"]) == (3, False)
    changed = gradebook.store(course, SHEET, [record("ana", answers={"half_rms": "eps"})], db)
    assert grades(course, db, "ana")["half_rms-value"]["needs_manual_grade"]
    assert [note.cell for note in changed[0].notes] == ["half_rms-value"]


def test_nobody_is_marked_who_was_not(book):
    course, db = book
    records = [Record("ana", SHEET, NOT_SUBMITTED), Record("bob", SHEET, FAILED), record("carl")]
    gradebook.store(course, SHEET, records, db)
    assert list(gradebook.read_marks(course, SHEET, db)) == ["carl"]
    gradebook.store(course, SHEET, [Record("carl", SHEET, FAILED)], db)
    assert (
        gradebook.read_marks(course, SHEET, db)["carl"]["half_rms-value"].points
        == FULL["half_rms-value"]
    )


def test_what_is_read_is_what_counts(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana", ["half_rms-value"])], db)
    before = gradebook.read_marks(course, SHEET, db)["ana"]
    mark_by_hand(course, db, "ana", IN_WORDS, 4.5, "Say why.")
    after = gradebook.read_marks(course, SHEET, db)["ana"]
    assert (before[IN_WORDS].points, before[IN_WORDS].waiting) == (None, True)
    assert after[IN_WORDS] == gradebook.Mark(None, 4.5, None, False, "Say why.")
    assert after["half_rms-value"].points == 0
    assert sum(mark.points for mark in after.values()) == sum(FULL.values()) - 6 - 6 + 4.5


def test_the_time_of_a_submission_is_kept_in_utc(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana", submitted="2026-10-24T23:59:30+02:00")], db)
    with opened(course, db) as opened_book:
        kept = opened_book.find_submission(SHEET, "ana").timestamp
    assert kept.isoformat() == "2026-10-24T21:59:30"


def test_penalties_follow_the_policy_of_the_day(book):
    course, db = book
    (course.folder / "late.toml").write_text(
        'timezone = "Europe/Madrid"\npercent_per_day = 10\n[due]\nrmsnorm = 2026-10-24T23:59:00\n'
    )
    late = record("ana", submitted="2026-10-25T12:00:00+01:00")
    gradebook.store(course, SHEET, [late], db)
    with opened(course, db) as opened_book:
        kept = opened_book.find_submission(SHEET, "ana")
        assert kept.late_submission_penalty == 10
        assert kept.total_seconds_late == 13 * 3600 + 60
    policy = course.folder / "late.toml"
    policy.write_text(policy.read_text() + "[extensions.rmsnorm]\nana = 2026-10-26T00:00:00\n")
    gradebook.store(course, SHEET, [late], db)
    with opened(course, db) as opened_book:
        assert opened_book.find_submission(SHEET, "ana").late_submission_penalty == 0


def change_master(course, change):
    """Change the cells of the master, as an author who corrects a test would."""
    master = course.folder / "source" / SHEET / f"{SHEET}.ipynb"
    notebook = json.loads(master.read_text("utf-8"))
    change(notebook["cells"])
    master.write_text(json.dumps(notebook), "utf-8")


def test_a_corrected_master_brings_its_points_and_text(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)

    def correct(cells):
        (cell,) = [cell for cell in cells if cell["id"] == "half_rms-value"]
        cell["metadata"]["nbgrader"]["points"] = 7
        cell["source"] = "assert half_rms(3.0) == 1.0"

    change_master(course, correct)
    gradebook.store(course, SHEET, [record("ana")], db)
    assert grades(course, db, "ana")["half_rms-value"]["max_score"] == 7
    with opened(course, db) as opened_book:
        cell = opened_book.find_source_cell("half_rms-value", SHEET, SHEET)
        assert cell.source == "assert half_rms(3.0) == 1.0"
        answer = opened_book.find_source_cell("half_rms", SHEET, SHEET)
        assert "BEGIN SOLUTION" not in answer.source


def without(name):
    def change(cells):
        cells[:] = [cell for cell in cells if cell["id"] != name]

    return change


def test_a_cell_taken_out_of_the_master_takes_its_marks_along(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)
    change_master(course, without("half_rms-value"))
    gradebook.store(course, SHEET, [record("ana")], db)
    assert "half_rms-value" not in grades(course, db, "ana")


def test_a_cell_that_was_marked_by_hand_is_not_taken_out(book):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)
    mark_by_hand(course, db, "ana", "half_rms-value", 3)
    change_master(course, without("half_rms-value"))
    with pytest.raises(UserError, match="half_rms-value is not in source/ any more"):
        gradebook.store(course, SHEET, [record("ana", ["rmsnorm_forward-eps"])], db)
    assert grades(course, db, "ana")["half_rms-value"]["manual_score"] == 3
    assert grades(course, db, "ana")["rmsnorm_forward-eps"]["auto_score"] == 6


def test_trouble_in_the_middle_leaves_everything_as_it_was(book, monkeypatch):
    course, db = book
    gradebook.store(course, SHEET, [record("ana")], db)

    def fail(self):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("grader.gradebook.marks.Marks.write", fail)
        with pytest.raises(ZeroDivisionError):
            gradebook.store(course, SHEET, [record("ana", ["half_rms-value"]), record("bob")], db)
    assert list(gradebook.read_marks(course, SHEET, db)) == ["ana"]
    assert grades(course, db, "ana")["half_rms-value"]["auto_score"] == 6


# The gradebook open elsewhere


def test_a_writer_elsewhere_is_waited_for(course):
    gradebook.store(course, SHEET, [record("ana")])
    code = (
        "import sqlite3, sys, time\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        "time.sleep(1)\n"
        "database.execute('COMMIT')\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, course.folder / "gradebook.db"], stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout.readline() == b"locked\n"
        gradebook.store(course, SHEET, [record("bob")])
    assert sorted(gradebook.read_marks(course, SHEET)) == ["ana", "bob"]


def test_a_writer_who_does_not_end_gets_one_line_and_loses_nothing(course, monkeypatch):
    gradebook.store(course, SHEET, [record("ana")])
    monkeypatch.setattr(connecting.transaction.__wrapped__, "__defaults__", (None, 0.2))
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError) as refused:
            gradebook.store(course, SHEET, [record("bob")])
        other.rollback()
    assert str(refused.value) == (
        f"{course.folder}/gradebook.db: another program has been writing to it for 0.2 s; "
        "close it and run the same command again"
    )
    assert list(gradebook.read_marks(course, SHEET)) == ["ana"]


def test_a_database_that_is_not_there_gets_one_line_without_the_password(course):
    with pytest.raises(UserError) as refused:
        gradebook.store(
            course, SHEET, [], "postgresql+psycopg://u:secret@127.0.0.1:1/marks?connect_timeout=2"
        )
    assert "secret" not in str(refused.value)
    assert str(refused.value).startswith("postgresql+psycopg://u:***@127.0.0.1:1/marks")
    assert len(str(refused.value).splitlines()) == 1


# nbgrader's own programs on what we stored


def nbgrader(course, *words):
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return subprocess.run(
        [BIN / "nbgrader", *words],
        cwd=course.folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )


def test_nbgraders_export_and_feedback_work_on_it(course):
    gradebook.store(course, SHEET, [record("ana", ["half_rms-value"])])
    mark_by_hand(course, None, "ana", IN_WORDS, 4.5, "Say why.")
    nbgrader(course, "export")
    header, *lines = (course.folder / "grades.csv").read_text().splitlines()
    (line,) = [dict(zip(header.split(","), row.split(","), strict=True)) for row in lines]
    assert (line["student_id"], float(line["raw_score"])) == ("ana", 94 - 6 + 4.5)
    marked = course.folder / "autograded" / "ana" / SHEET
    marked.mkdir(parents=True)
    shutil.copy(course.folder / "release" / SHEET / f"{SHEET}.ipynb", marked)
    nbgrader(course, "generate_feedback", SHEET)
    page = (course.folder / "feedback" / "ana" / SHEET / f"{SHEET}.html").read_text("utf-8")
    assert "Say why." in page
    assert "92.5" in page


def test_formgrader_s_own_view_of_the_class_is_right(course):
    for student in ("ana", "bob"):
        for step in ("submitted", "autograded"):
            folder = course.folder / step / student / SHEET
            folder.mkdir(parents=True)
            shutil.copy(course.folder / "release" / SHEET / f"{SHEET}.ipynb", folder)
    gradebook.store(course, SHEET, [record("ana", ["half_rms-value"]), record("bob")])
    mark_by_hand(course, None, "bob", IN_WORDS, 5)
    view = NbGraderAPI(course.directory(SHEET))
    seen = {s["student"]: s for s in view.get_submissions(SHEET)}
    assert {name: s["score"] for name, s in seen.items()} == {"ana": 88, "bob": 99}
    assert {name: s["needs_manual_grade"] for name, s in seen.items()} == {
        "ana": True,
        "bob": False,
    }
    assert all(s["autograded"] for s in seen.values())
    assert view.get_assignment(SHEET)["num_submissions"] == 2
