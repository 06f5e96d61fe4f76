"""Marking again after a correction: everybody who changed is told, and hand marks stay."""

import json
import shutil
from types import SimpleNamespace

import pytest
from classes import IN_WORDS, REPOSITORY, SHEET, make_small_course, record
from nbgrader.api import Gradebook

from grader import cli, gradebook
from grader.course import Course
from grader.regrading import Change, regrade

pytestmark = pytest.mark.marking
SUBMISSIONS = REPOSITORY / "tests" / "submissions" / SHEET


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return make_small_course(folder / "otoño 1", folder)


@pytest.fixture
def course(made, tmp_path):
    return Course.open(shutil.copytree(made, tmp_path / "una copia"))


def marked_by_hand(course, student, cell, points):
    with Gradebook(course.directory().db_url, course.directory().course_id) as book:
        grade = book.find_grade(cell, SHEET, SHEET, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def marking(records, stop_after=None):
    """Return what marks a class: these records, or the first of them if it is stopped."""

    def mark_all(course, assignment, students):
        wanted = [r for r in records if not students or r.student in students]
        done = gradebook.store(course, assignment, wanted[:stop_after])
        return SimpleNamespace(records=done, stopped=len(done) < len(wanted))

    return mark_all


BEFORE = [record("ana", ["half_rms-value"]), record("bob"), record("carl", ["half_rms-value"])]
AFTER = [record("ana"), record("bob", ["rmsnorm_forward-eps"]), record("carl", ["half_rms-value"])]


def test_who_changed_and_by_how_much(course):
    gradebook.store(course, SHEET, BEFORE)
    marked_by_hand(course, "carl", IN_WORDS, 4.5)
    told = regrade(course, SHEET, marking(AFTER))
    assert told.changes == [
        Change("ana", 88, 94, {"half_rms-value": (0, 6)}),
        Change("bob", 94, 88, {"rmsnorm_forward-eps": (6, 0)}),
    ]
    assert (told.marked, told.kept, told.review, told.failed) == (3, 1, [], [])


def test_a_mark_by_hand_on_another_answer_is_to_be_looked_at_again(course):
    gradebook.store(course, SHEET, BEFORE)
    marked_by_hand(course, "carl", IN_WORDS, 4.5)
    other = record("carl", ["half_rms-value"], answers={IN_WORDS: "because"})
    told = regrade(course, SHEET, marking([other]))
    assert (told.changes, told.kept, told.review) == ([], 0, [("carl", IN_WORDS)])
    assert gradebook.read_marks(course, SHEET)["carl"][IN_WORDS].points == 4.5


def test_a_mark_by_hand_that_overrules_a_check_keeps_a_student_s_points(course):
    gradebook.store(course, SHEET, BEFORE)
    marked_by_hand(course, "ana", "half_rms-value", 3)
    assert regrade(course, SHEET, marking(AFTER), ["ana"]).changes == []


def test_a_regrading_that_was_stopped_still_tells_every_change_in_the_end(course):
    gradebook.store(course, SHEET, BEFORE)
    first = regrade(course, SHEET, marking(AFTER, stop_after=1))
    assert (first.stopped, [change.student for change in first.changes]) == (True, ["ana"])
    second = regrade(course, SHEET, marking(AFTER))
    assert [change.student for change in second.changes] == ["ana", "bob"]
    assert regrade(course, SHEET, marking(AFTER)).changes == []


# With the engine


def hand_in(course, student, name):
    path = course.notebook("submitted", student, SHEET)
    path.parent.mkdir(parents=True)
    shutil.copy(SUBMISSIONS / f"{name}.ipynb", path)


def correct_test(course, name, source):
    """Write another test into the master, as an author who found a fault in it would."""
    master = course.masters(SHEET)[0]
    notebook = json.loads(master.read_text("utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == name]
    cell["source"] = source
    master.write_text(json.dumps(notebook), "utf-8")


def test_a_corrected_test_is_one_command(course, capsys):
    for student, name in (("ana", "right"), ("bob", "eps_outside"), ("carl", "untouched")):
        hand_in(course, student, name)
    assert cli.main(["grade", str(course.folder), SHEET]) == 0
    marked_by_hand(course, "ana", IN_WORDS, 4.5)
    capsys.readouterr()
    correct_test(course, "half_rms-value", "assert half_rms(3.0) > 0")
    assert cli.main(["regrade", str(course.folder), SHEET]) == 0
    assert capsys.readouterr().out == (
        "bob: 80 → 86 (+6): half_rms-value 0 → 6\n"
        "rmsnorm: 1 of 3 students changed, 1 marks by hand kept\n"
    )
    assert cli.main(["regrade", str(course.folder), SHEET, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["changes"], facts["marked"], facts["kept"]) == ([], 3, 1)
