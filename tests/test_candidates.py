"""Which file of a submission's folder is the sheet: its cells tell, whatever else lies there."""

import os

import pytest
from classes import REPOSITORY

from grader.collecting.candidates import answer_ids, find_submission

SHEET = (REPOSITORY / "notebooks" / "rmsnorm.ipynb").read_bytes()
OTHER = (REPOSITORY / "notebooks" / "swiglu.ipynb").read_bytes()
IDS = answer_ids(SHEET)


def folder_of(tmp_path, files):
    folder = tmp_path / "submitted" / "ana" / "rmsnorm"
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def found(folder):
    path, notes = find_submission(folder, "rmsnorm.ipynb", IDS)
    return path and path.name, [note.kind for note in notes]


@pytest.mark.parametrize(
    "name",
    [
        "rmsnorm (1).ipynb",
        "rmsnorm-Copy1.ipynb",
        "RMSNORM.IPYNB",
        "Untitled.ipynb",
        "ana b's final (really).ipynb",
    ],
)
def test_another_name_is_accepted_and_named(tmp_path, name):
    assert found(folder_of(tmp_path, {name: SHEET})) == (name, ["renamed file"])


def test_the_right_name_needs_no_word(tmp_path):
    files = {"rmsnorm.ipynb": SHEET, "rmsnorm (1).ipynb": SHEET}
    assert found(folder_of(tmp_path, files)) == ("rmsnorm.ipynb", [])


@pytest.mark.parametrize(
    "clutter",
    [
        "scratch.ipynb",
        ".ipynb_checkpoints/rmsnorm-checkpoint.ipynb",
        "desktop.ini",
        ".DS_Store",
        "__MACOSX/._rmsnorm.ipynb",
        "Thumbs.db",
    ],
)
def test_what_lies_beside_it_is_ignored(tmp_path, clutter):
    data = OTHER if clutter.endswith("scratch.ipynb") else SHEET
    files = {"rmsnorm (1).ipynb": SHEET, clutter: data}
    assert found(folder_of(tmp_path, files)) == ("rmsnorm (1).ipynb", ["renamed file"])


def test_two_that_could_be_it_are_named_and_none_is_guessed(tmp_path):
    folder = folder_of(tmp_path, {"a.ipynb": SHEET, "b.ipynb": SHEET})
    path, notes = find_submission(folder, "rmsnorm.ipynb", IDS)
    assert path is None
    assert notes[0].text == "more than one could be rmsnorm.ipynb: a.ipynb, b.ipynb"


def test_another_sheet_is_not_taken(tmp_path):
    assert found(folder_of(tmp_path, {"swiglu.ipynb": OTHER})) == (None, ["no notebook"])


def test_nobody_and_nothing_are_no_trouble(tmp_path):
    assert found(tmp_path / "submitted" / "bob" / "rmsnorm") == (None, [])
    assert found(folder_of(tmp_path, {".DS_Store": b""})) == (None, [])


def test_what_lies_there_and_is_no_file_is_named(tmp_path):
    folder = folder_of(tmp_path, {"work/rmsnorm.ipynb": SHEET, "rmsnorm.ipynb/x.ipynb": SHEET})
    os.mkfifo(folder / "pipe")
    path, (note,) = find_submission(folder, "rmsnorm.ipynb", IDS)
    assert path is None
    assert note.text == (
        "no rmsnorm.ipynb among pipe, rmsnorm.ipynb/, work/: only files here are looked at"
    )


@pytest.mark.parametrize("place", ["file", "sheet", "student"])
def test_a_link_to_another_student_s_work_is_refused_and_named(tmp_path, place):
    theirs = tmp_path / "submitted" / "bob" / "rmsnorm"
    theirs.mkdir(parents=True)
    (theirs / "rmsnorm.ipynb").write_bytes(SHEET)
    student = tmp_path / "submitted" / "ana"
    folder = student / "rmsnorm"
    if place == "student":
        student.symlink_to(theirs.parent)
    elif place == "sheet":
        student.mkdir()
        folder.symlink_to(theirs)
    else:
        folder.mkdir(parents=True)
        (folder / "rmsnorm.ipynb").symlink_to(theirs / "rmsnorm.ipynb")
    assert found(folder) == (None, ["refused link"])
