"""Names that strangers choose: none stops a class, none moves a terminal."""

import os

import pytest

from grader.collecting.candidates import find_submission, student_folders
from grader.engine.joining import when_submitted
from grader.names import LONGEST, shown, why_no_student
from grader.records import NOT_SUBMITTED, Record
from grader.table import print_table

TITLE = "x\x1b]0;owned\x07"


@pytest.mark.parametrize("name", ["ana", "o'neill, ñ <b>", "=1+1", "李 雷", "x" * LONGEST])
def test_a_name_of_a_person_is_one(name):
    assert why_no_student(name) == ""


@pytest.mark.parametrize(
    "name", [TITLE, "a\nana  100", "a\x9b2J", "\u202egnp", "Jos\udce9", "x" * 129, "李" * 100]
)
def test_a_name_that_cannot_be_kept_or_hides_something_is_none(name):
    assert why_no_student(name).startswith("its name ")


def test_folders_that_are_nobody_s_are_told_and_the_others_stay(tmp_path):
    for name in ("ana", os.fsdecode(b"Jos\xe9"), "x" * 250, ".hidden"):
        (tmp_path / name).mkdir()
    students, refused = student_folders(tmp_path)
    assert students == {"ana"}
    assert set(refused) == {"Jos\udce9", "x" * 250}


def test_what_a_terminal_obeys_is_shown_as_python_writes_it(capsys):
    assert shown(f"ñ {TITLE}\u202e") == r"ñ x\x1b]0;owned\x07\u202e"
    print_table("rmsnorm", [Record(TITLE, "rmsnorm", NOT_SUBMITTED, f"no {TITLE}")], {})
    out = capsys.readouterr().out
    assert "\x1b]" not in out
    assert "\x07" not in out
    assert out.count(r"\x1b]0;owned\x07") == 2


def test_a_file_s_name_is_told_without_what_a_terminal_obeys(tmp_path):
    for name in (f"{TITLE}.txt", "b\udcff.txt"):
        (tmp_path / name).touch()
    _, (note,) = find_submission(tmp_path, "rmsnorm.ipynb", set())
    assert note.text == r"no rmsnorm.ipynb among b\udcff.txt, x\x1b]0;owned\x07.txt"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("other.txt")])
def test_a_time_is_read_from_a_file_and_from_nothing_else(tmp_path, make):
    (tmp_path / "other.txt").write_text("2026-10-24T23:59:00+02:00")
    make(tmp_path / "timestamp.txt")
    assert when_submitted(tmp_path) is None
