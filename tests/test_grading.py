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
from unittest.mock import Mock

import cheats
import hostile
import psutil
import pytest
from classes import REPOSITORY, make_small_course

from grader.course import Course
from grader.grading import mark_all, only_run
from grader.records import FAILED

SUBMISSIONS = Path(__file__).parent / "submissions" / "rmsnorm"
MARKS = json.loads((SUBMISSIONS / "marks.json").read_text("utf-8"))
WAITING = {"right", "no_rank_one"}  # the submissions with an answer in words
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.marking


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    """Make a course in which it is known how the tests are run: finding out takes seconds."""
    scratch = tmp_path_factory.mktemp("course")
    made = make_small_course(scratch / "otoño 1", scratch / "repository")
    tried = shutil.copytree(made, scratch / "tried")
    hand_in(tried, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    grade(tried)
    shutil.copytree(tried / "records" / ".habits", made / "records" / ".habits")
    return made


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


def command(course, *words):
    return [sys.executable, "-m", "grader", "grade", course, "rmsnorm", "--json", *words]


def grade(course, *words):
    """Run ``python -m grader grade --json``; return exit code and facts by student."""
    run = subprocess.run(
        command(course, *words), capture_output=True, text=True, cwd=REPOSITORY, check=False
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
        ("untouched", "all answers untouched"),
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
    "format 3": (
        b'{"nbformat": 3, "worksheets": []}',
        "not a readable notebook: it is in notebook format 3: open and save it",
    ),
    "format 9": (
        b'{"nbformat": 9, "cells": [1]}',
        "not a readable notebook: it is in notebook format 9, and 4 is what can be read",
    ),
    "deep": (b"[" * 200_000, "not a readable notebook: no JSON that a notebook would have"),
}


def test_one_broken_submission_does_not_stop_the_class(course):
    for student, (data, _) in TROUBLE.items():
        hand_in(course, student, data)
    hand_in(course, "[zoë] <b>", (SUBMISSIONS / "right.ipynb").read_bytes())
    hand_in(course, "misnamed", (SUBMISSIONS / "right.ipynb").read_bytes(), "rmsnorm (1).IPYNB")
    (course / "submitted" / "nothing").mkdir()
    (course / "submitted" / ".DS_Store").touch()
    code, students = grade(course)
    assert code == 1
    for student, (_, remark) in TROUBLE.items():
        assert students[student]["status"] == "failed"
        assert students[student]["points"] is None
        assert students[student]["remark"].startswith(remark), student
    assert students["[zoë] <b>"]["marks"] == students["misnamed"]["marks"] == MARKS["right"]
    assert students["misnamed"]["remark"] == "renamed file"
    assert students["nothing"]["status"] == "not submitted"
    assert students["nothing"]["remark"] == "nothing handed in"
    assert len(students) == len(TROUBLE) + 3


def test_a_folder_that_can_be_nobody_s_costs_nobody_else_a_mark(course):
    for student in ("ana", "Jos\udce9", "x" * 250, "t\x1b]0;owned\x07", "zoë"):
        hand_in(course, student, (SUBMISSIONS / "untouched.ipynb").read_bytes())
    run = subprocess.run(
        command(course), capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    assert [one["student"] for one in json.loads(run.stdout)["students"]] == ["ana", "zoë"]
    assert run.returncode == 1
    assert [line.partition(":")[0] for line in sorted(run.stderr.splitlines())] == [
        r"submitted/Jos\udce9 was not marked",
        r"submitted/t\x1b]0;owned\x07 was not marked",
        f"submitted/{'x' * 60} was not marked",
    ]
    assert list(marks_in_gradebook(course)) == ["ana", "zoë"]


def test_a_file_that_cannot_be_opened_is_told_as_that(course, monkeypatch):
    hand_in(course, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    denied = PermissionError(13, "Permission denied")
    monkeypatch.setattr("grader.finding.find_submission", Mock(side_effect=denied))
    (record,) = mark_all(Course(course), "rmsnorm").records
    assert (record.status, record.remark) == (FAILED, "it cannot be read: Permission denied")


# Hostile submissions, each between two honest ones


ATTACKS = hostile.CLASS | cheats.CLASS
BESIDE = ("numpy.py", "grader.py", "sitecustomize.py", "conftest.py", "ipython_config.py")
BESIDE += ("matplotlibrc", "x.pth", ".ipython/profile_default/startup/0.py")


def test_no_attack_gains_a_point_or_costs_another_student_one(course):
    for student in ("a honest", "z honest"):
        hand_in(course, student, (SUBMISSIONS / "right.ipynb").read_bytes())
    for name in BESIDE:
        path = course / "submitted" / "z honest" / "rmsnorm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1 / 0")
    for name, (data, _, _) in ATTACKS.items():
        hand_in(course, name, data)
    before = processes_of_sandboxes()
    code, students = grade(course, "--time-limit", "3")
    assert {s["student"]: s["remark"] for s in students.values() if s["status"] != "graded"} == {}
    assert code == 0
    for student in ("a honest", "z honest"):
        assert students[student]["marks"] == MARKS["right"]
        assert students[student]["remark"] == ""
    for name, (_, marks, remark) in ATTACKS.items():
        assert students[name]["marks"] == marks, name
        assert remark in students[name]["remark"], name
    assert processes_of_sandboxes() <= before
    kept = {path.name for path in (course / "submitted" / "exits" / "rmsnorm").iterdir()}
    assert kept == {"rmsnorm.ipynb"}


def processes_of_sandboxes():
    """Return the ids of all processes that run a far side."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        if "grader.engine.far.server" in (process.info["cmdline"] or ()):
            found.add(process.pid)
    return found


def test_what_a_student_s_code_prints_in_a_hidden_check_is_not_kept(course):
    source = "def half_rms(eps):\n    print('eps is', eps)\n    return eps"
    hand_in(course, "ana", with_answer("half_rms", source))
    _, students = grade(course)
    autograded = (course / "autograded/ana/rmsnorm/rmsnorm.ipynb").read_text("utf-8")
    assert "eps is 0" not in autograded
    (claim,) = [c for c in students["ana"]["cells"] if c["name"] == "half_rms-value"]
    assert claim["outcome"] == "wrong"
    assert "eps" not in claim["sentence"] or "1e" not in claim["sentence"]


# Workers, and runs that are ended


def test_one_worker_and_three_give_the_same_marks(empty_course, tmp_path):
    told = []
    for workers in ("1", "3"):
        folder = course_of_six(empty_course, tmp_path / workers)
        _, students = grade(folder, "--workers", workers)
        told.append({name: (s["marks"], s["remark"]) for name, s in students.items()})
    assert told[0] == told[1]


def test_a_run_that_was_killed_goes_on_where_it_ended(empty_course, tmp_path):
    folder = course_of_six(empty_course, tmp_path)
    for seconds in (2.0, 4.0, 6.0):
        run = subprocess.Popen(command(folder), cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        run.kill()
        run.wait()
        for path in (folder / "records" / "rmsnorm").glob("[!.]*"):
            assert json.loads(path.read_text("utf-8"))["status"] == "graded"
    _, students = grade(folder)
    assert {name: s["marks"] for name, s in students.items()} == MARKS
    assert marks_in_gradebook(folder) == MARKS


def test_what_was_marked_is_not_marked_again_unless_a_side_has_changed(course):
    hand_in(course, "ana", (SUBMISSIONS / "right.ipynb").read_bytes())
    grade(course)
    record = course / "records" / "rmsnorm" / "ana.json"
    first = record.stat().st_mtime_ns
    grade(course)
    assert record.stat().st_mtime_ns == first
    grade(course, "--again")
    second = record.stat().st_mtime_ns
    assert second != first
    hand_in(course, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    assert grade(course)[1]["ana"]["points"] == 0


def test_a_second_run_at_the_same_time_is_refused(course):
    hand_in(course, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    with only_run(Course(course)):
        run = subprocess.run(
            command(course), capture_output=True, text=True, cwd=REPOSITORY, check=False
        )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        f"{course}: another run is marking this course; wait until it has ended\n"
    )


def test_without_walls_the_marks_are_the_same_and_the_danger_is_told(course):
    hand_in(course, "ana", (SUBMISSIONS / "other_way.ipynb").read_bytes())
    run = subprocess.run(
        command(course, "--sandbox=limits"),
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert run.returncode == 0
    assert "It can read your files and use the network" in run.stderr
    assert json.loads(run.stdout)["students"][0]["marks"] == MARKS["other_way"]


def test_without_bubblewrap_nothing_is_run(course, monkeypatch, tmp_path):
    hand_in(course, "ana", (SUBMISSIONS / "right.ipynb").read_bytes())
    run = subprocess.run(
        command(course),
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env={"PATH": str(tmp_path)},
        check=False,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("there is no sandbox here: bubblewrap is missing.")
    assert not (course / "records" / "rmsnorm" / "ana.json").exists()


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


def hear_ctrl_c():
    """Undo what a shell does to programs in the background: they would not hear it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_and_tells_what_was_marked(course):
    hand_in(course, "ana", (SUBMISSIONS / "untouched.ipynb").read_bytes())
    hand_in(course, "bob", with_answer("half_rms", "import time\ntime.sleep(1000)"))
    words = [*command(course, "--time-limit", "500", "--workers", "1")]
    marking = subprocess.Popen(
        [word for word in words if word != "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        preexec_fn=hear_ctrl_c,
    )
    anas = course / "autograded" / "ana" / "rmsnorm" / "rmsnorm.ipynb"
    deadline = time.monotonic() + 120
    while not anas.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)
    marking.send_signal(signal.SIGINT)
    out, err = marking.communicate(timeout=60)
    assert marking.returncode == 1
    assert err == "stopped: 1 of 2 students marked; the same command goes on with the others\n"
    assert out.splitlines()[-1].strip() == "rmsnorm: 1 graded"
    assert not (course / "records" / "rmsnorm" / "bob.json").exists()
