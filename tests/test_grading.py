"""Marking a class: the marks stated beforehand, from our command and from plain nbgrader."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from grader.course import make_course

REPOSITORY = Path(__file__).resolve().parent.parent
SUBMISSIONS = Path(__file__).parent / "submissions" / "rmsnorm"
MARKS = json.loads((SUBMISSIONS / "marks.json").read_text("utf-8"))
WAITING = {"right", "no_rank_one"}  # the submissions with an answer in words
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.marking


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "otoño 1"
    make_course(folder, REPOSITORY)
    return folder


def course_of_six(empty_course, parent):
    """Make a course with the six submissions, one student each."""
    folder = shutil.copytree(empty_course, parent / "los seis")
    for name in MARKS:
        hand_in(folder, name, (SUBMISSIONS / f"{name}.ipynb").read_bytes())
    return folder


@pytest.fixture
def course(empty_course, tmp_path):
    """A course of its own, without submissions."""
    return shutil.copytree(empty_course, tmp_path / "course")


def set_timeout(course, seconds):
    """Change the seconds that a cell may take, as an instructor would."""
    config = course / "nbgrader_config.py"
    text = config.read_text("utf-8")
    assert "c.Execute.timeout = 30\n" in text
    config.write_text(text.replace("timeout = 30\n", f"timeout = {seconds}\n"), "utf-8")


def hand_in(course, student, data, name="rmsnorm.ipynb"):
    folder = course / "submitted" / student / "rmsnorm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def edited(change):
    """Return the bytes of the right submission after a change of its list of cells."""
    notebook = json.loads((SUBMISSIONS / "right.ipynb").read_text("utf-8"))
    change(notebook["cells"])
    return json.dumps(notebook).encode()


def with_answer(grade_id, source):
    """Return the right submission with another answer."""

    def change(cells):
        (cell,) = [cell for cell in cells if cell["id"] == grade_id]
        cell["source"] = source

    return edited(change)


def grade(course, *words):
    """Run ``python -m grader grade --json``; return exit code and facts by student."""
    run = subprocess.run(
        [sys.executable, "-m", "grader", "grade", course, "rmsnorm", "--json", *words],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert run.stderr == ""
    facts = json.loads(run.stdout)
    assert facts["assignment"] == "rmsnorm"
    return run.returncode, {student["student"]: student for student in facts["students"]}


def nbgrader(course, *words):
    """Run nbgrader itself in a course folder, as an instructor would."""
    return subprocess.run(
        [BIN / "nbgrader", *words], cwd=course, capture_output=True, text=True, check=True
    )


def marks_in_gradebook(course):
    """Return automatic marks by student and cell, read from the database without nbgrader."""
    query = (
        "SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score FROM grade"
        " JOIN base_cell ON base_cell.id = grade.cell_id"
        " JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id"
        " JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
        " JOIN grade_cells ON grade_cells.id = base_cell.id"
        " WHERE grade_cells.cell_type = 'code'"
    )
    marks = {}
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        for student, cell, points in database.execute(query):
            marks.setdefault(student, {})[cell] = points
    return marks


def set_by_hand(course, cell, points):
    """Enter a mark as a marker would in nbgrader's formgrader."""
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        database.execute(
            "UPDATE grade SET manual_score = ? WHERE cell_id ="
            " (SELECT id FROM base_cell WHERE name = ?)",
            (points, cell),
        )
        database.commit()


# The six


def test_the_submissions_are_made_from_the_notebook_and_the_files_of_answers():
    make = Path(__file__).parent / "submissions" / "make.py"
    run = subprocess.run(
        [sys.executable, make, "--check"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, "")


@pytest.fixture(scope="module")
def graded(empty_course, tmp_path_factory):
    """The six marked by our command: exit code, facts by student, marks in the gradebook."""
    folder = course_of_six(empty_course, tmp_path_factory.mktemp("six"))
    return *grade(folder), marks_in_gradebook(folder)


@pytest.mark.parametrize("name", MARKS)
def test_our_command_gives_the_marks_that_were_stated(graded, name):
    _, students, in_gradebook = graded
    assert students[name]["marks"] == MARKS[name]
    assert students[name]["points"] == sum(MARKS[name].values())
    assert students[name]["max_points"] == sum(MARKS["right"].values())
    assert in_gradebook[name] == MARKS[name]


def test_a_class_that_could_be_marked_gives_exit_code_0(graded):
    assert graded[0] == 0


@pytest.mark.parametrize("name", MARKS)
def test_only_answers_in_words_wait_for_a_marker(graded, name):
    waiting = {"rank_one_in_words": 6} if name in WAITING else {}
    assert graded[1][name]["waiting"] == waiting


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("right", ""),
        ("untouched", "all 8 answers untouched"),
        (
            "eps_outside",
            "no points: rmsnorm_forward-eps, half_rms-value, layernorm_from_rmsnorm-eps",
        ),
        (
            "no_rank_one",
            "no points: normalize_vjp-value, normalize_vjp-rows, rmsnorm_backward-dx, "
            "rmsnorm_backward-types and 1 more",
        ),
    ],
)
def test_a_remark_says_which_claims_gave_no_points(graded, name, remark):
    assert graded[1][name]["remark"] == remark


def test_plain_nbgrader_gives_the_same_marks_and_feedback_for_everyone(empty_course, tmp_path):
    folder = course_of_six(empty_course, tmp_path)
    nbgrader(folder, "autograde", "rmsnorm")
    assert marks_in_gradebook(folder) == MARKS
    nbgrader(folder, "generate_feedback", "rmsnorm")
    told = sorted(path.parts[-3] for path in folder.glob("feedback/*/rmsnorm/rmsnorm.html"))
    assert told == sorted(MARKS)


# Trouble stays with its student


TROUBLE = {
    "cut": (
        (SUBMISSIONS / "right.ipynb").read_bytes()[:700],
        "not a readable notebook: broken at line ",
    ),
    "empty": (b"", "not a readable notebook: broken at line 1, it may be cut off"),
    "no cells": (edited(list.clear), "not a readable notebook: it has no cells"),
    "no notebook": (b"[1, 2]", "not a readable notebook: it has no list of cells"),
    "latin-1": ('{"cells": ["ñ"]}'.encode("latin-1"), "not a readable notebook: not in UTF-8"),
    "twice": (
        edited(lambda cells: cells.append(next(c for c in cells if c["id"] == "half_rms"))),
        "more than one cell is half_rms: delete the copies",
    ),
    "dies": (
        with_answer("half_rms", "import os\nos._exit(1)"),
        "the notebook's kernel died while running it",
    ),
    "[brackets]": (
        (SUBMISSIONS / "right.ipynb").read_bytes(),
        "nbgrader cannot mark a folder with any of * ? [ ] in its name: rename it",
    ),
}


def test_one_broken_submission_does_not_stop_the_class(course):
    for student, (data, _) in TROUBLE.items():
        hand_in(course, student, data)
    hand_in(course, "zoë <b>", (SUBMISSIONS / "right.ipynb").read_bytes())
    hand_in(course, "misnamed", b"{}", "rmsnorm (1).ipynb")
    (course / "submitted" / "nothing").mkdir()
    (course / "submitted" / ".DS_Store").touch()
    code, students = grade(course)
    assert code == 1
    for student, (_, remark) in TROUBLE.items():
        assert students[student]["status"] == "failed"
        assert students[student]["points"] is None
        assert students[student]["remark"].startswith(remark), student
    assert students["zoë <b>"]["marks"] == MARKS["right"]
    assert students["nothing"]["status"] == students["misnamed"]["status"] == "not submitted"
    assert students["nothing"]["remark"] == "nothing handed in"
    assert students["misnamed"]["remark"] == "no rmsnorm.ipynb among rmsnorm (1).ipynb"
    assert len(students) == len(TROUBLE) + 3


def test_a_loop_without_end_costs_its_own_claim_only(course):
    set_timeout(course, 8)
    hand_in(course, "ana", with_answer("half_rms", "while True:\n    pass"))
    code, students = grade(course)
    assert code == 0
    assert students["ana"]["marks"] == {**MARKS["right"], "half_rms-value": 0}
    assert students["ana"]["remark"] == "timed out after 8 s: half_rms; no points: half_rms-value"


def test_a_graded_cell_that_was_deleted_is_named(course):
    def delete(cells):
        cells[:] = [cell for cell in cells if cell["id"] != "half_rms-value"]

    hand_in(course, "ana", edited(delete))
    _, students = grade(course)
    assert students["ana"]["marks"] == {**MARKS["right"], "half_rms-value": None}
    assert students["ana"]["remark"] == "missing from the notebook: half_rms-value"


# Again


def test_marking_again_gives_the_new_marks_and_keeps_those_given_by_hand(course):
    hand_in(course, "ana", (SUBMISSIONS / "right.ipynb").read_bytes())
    assert grade(course)[1]["ana"]["points"] == sum(MARKS["right"].values())
    set_by_hand(course, "rank_one_in_words", 5)
    hand_in(course, "ana", with_answer("half_rms", "def half_rms(eps):\n    return eps"))
    assert grade(course)[1]["ana"]["marks"] == {**MARKS["right"], "half_rms-value": 0}
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        assert (5.0,) in set(database.execute("SELECT manual_score FROM grade"))


def test_only_the_students_asked_for_are_marked(course):
    for student in ("ana", "bob"):
        hand_in(course, student, (SUBMISSIONS / "untouched.ipynb").read_bytes())
    assert list(grade(course, "--student", "bob")[1]) == ["bob"]
    assert list(marks_in_gradebook(course)) == ["bob"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rmsnrom"], "no sheet 'rmsnrom' in {course}: it has {sheets}"),
        (["rmsnorm", "--student", "bob"], "no student 'bob': there is no {course}/submitted/bob"),
    ],
)
def test_a_name_that_nobody_knows_gets_one_line(empty_course, words, said):
    run = subprocess.run(
        [sys.executable, "-m", "grader", "grade", empty_course, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    sheets = ", ".join(sorted(path.name for path in (empty_course / "source").iterdir()))
    assert run.stderr == said.format(course=empty_course, sheets=sheets) + "\n"


def test_ctrl_c_stops_and_tells_what_was_marked(course):
    hand_in(course, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    hand_in(course, "bob", with_answer("half_rms", "import time\ntime.sleep(1000)"))
    set_timeout(course, 500)
    marking = subprocess.Popen(
        [sys.executable, "-m", "grader", "grade", course, "rmsnorm"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    bobs = course / "autograded" / "bob" / "rmsnorm" / "rmsnorm.ipynb"
    deadline = time.monotonic() + 120
    while not bobs.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    marking.send_signal(signal.SIGINT)
    out, err = marking.communicate(timeout=60)
    assert marking.returncode == 1
    assert err == ("stopped: 1 of 2 students marked; the same command marks all of them again\n")
    assert out.splitlines()[-1].strip() == "rmsnorm: 1 graded"
