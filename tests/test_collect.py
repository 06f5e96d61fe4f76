"""Collecting: whatever a system calls a file, the right student's newest sheet is kept."""

import json
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest
from classes import NOTEBOOK, SHEET, make_small_course

from grader import cli
from grader.collecting import collect, find_submission
from grader.collecting.candidates import answer_ids
from grader.collecting.collect import NEW, NOTHING, REPLACED, UNCHANGED
from grader.collecting.entries import entries_of
from grader.course import Course

pytestmark = pytest.mark.marking
PLAIN = NOTEBOOK.read_bytes()
IDS = answer_ids(PLAIN)


def version(number):
    """Return the sheet with a mark in it that tells which version it is."""
    notebook = json.loads(PLAIN)
    notebook["metadata"]["version"] = number
    return json.dumps(notebook).encode()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return make_small_course(folder / "otoño 1", folder)


@pytest.fixture
def course(made, tmp_path):
    return Course.open(shutil.copytree(made, tmp_path / "una copia"))


def zipped(path, files):
    """Write a zip; its files are a minute apart, in the order in which they are given."""
    with zipfile.ZipFile(path, "w") as archive:
        for minute, (name, data) in enumerate(files.items()):
            archive.writestr(zipfile.ZipInfo(name, (2026, 10, 24, 12, minute, 0)), data)
    return path


def kept(course):
    """Return what stands in the course folder: version by student."""
    paths = sorted(course.folder.glob(f"submitted/*/{SHEET}/{SHEET}.ipynb"))
    return {p.parts[-3]: json.loads(p.read_bytes())["metadata"].get("version") for p in paths}


def test_canvas_keeps_the_newest_and_reports_all(course, tmp_path):
    download = zipped(
        tmp_path / "submissions.zip",
        {
            "smithjane_LATE_12345_678_rmsnorm-2.ipynb": version(2),
            "smithjane_12345_640_rmsnorm.ipynb": version(1),
            "muñozzoë_777_650_rmsnorm-10.ipynb": version(10),
            "muñozzoë_777_650_rmsnorm-9.ipynb": version(9),
            "leebob_888_660_scratch.ipynb": b'{"cells": []}',
        },
    )
    collected, refused = collect(course, SHEET, [download])
    assert kept(course) == {"smithjane": 2, "muñozzoë": 10}
    told = {one.student: (one.status, one.others) for one in collected}
    assert told == {
        "leebob": (NOTHING, ("leebob_888_660_scratch.ipynb",)),
        "muñozzoë": (NEW, ("muñozzoë_777_650_rmsnorm-9.ipynb",)),
        "smithjane": (NEW, ("smithjane_12345_640_rmsnorm.ipynb",)),
    }
    assert [one.remark for one in collected][-1] == "late, says Canvas"
    assert refused == []


def test_two_students_of_one_name_are_kept_apart_by_canvas_s_numbers_for_good(course, tmp_path):
    first = zipped(tmp_path / "1.zip", {"smithjane_11_1_rmsnorm.ipynb": version(1)})
    both = zipped(
        tmp_path / "2.zip",
        {"smithjane_22_3_rmsnorm.ipynb": version(3), "smithjane_11_2_rmsnorm.ipynb": version(2)},
    )
    collect(course, SHEET, [first])
    collect(course, SHEET, [both])
    assert kept(course) == {"smithjane": 2, "smithjane_22": 3}


def test_two_unknown_students_of_one_name_both_get_their_numbers(course, tmp_path):
    files = {"smithjane_11_1_rmsnorm.ipynb": version(1), "smithjane_22_3_rmsnorm.ipynb": version(3)}
    collect(course, SHEET, [zipped(tmp_path / "1.zip", files)])
    assert kept(course) == {"smithjane_11": 1, "smithjane_22": 3}


def test_what_moodle_let_a_student_type_is_the_same_student_s(course, tmp_path):
    files = {
        "Bo Li_12_assignsubmission_file_/rmsnorm.ipynb": version(1),
        "Bo Li_12_assignsubmission_onlinetext_/onlinetext.html": "<p>Here it is.</p>",
    }
    collected, _ = collect(course, SHEET, [zipped(tmp_path / "m.zip", files)])
    assert kept(course) == {"Bo Li": 1}
    assert [one.student for one in collected] == ["Bo Li"]


@pytest.mark.parametrize(
    "name",
    [
        "Zoë O'Neil Smith_4711_assignsubmission_file_/rmsnorm.ipynb",
        "Zoë O'Neil Smith_4711_assignsubmission_file_rmsnorm.ipynb",
        "Zoë O'Neil Smith_4711_assignsubmission_file/homework/rmsnorm (1).ipynb",
        "course/Zoë O'Neil Smith_4711_assignsubmission_file_/RMSNORM.IPYNB",
    ],
)
def test_moodle_names_a_student_in_a_folder_or_in_the_file(course, tmp_path, name):
    collect(course, SHEET, [zipped(tmp_path / "m.zip", {name: version(1)})])
    assert kept(course) == {"Zoë O'Neil Smith": 1}


PLAIN_ZIPS = {
    "folders": ["ana/rmsnorm.ipynb", "bob/rmsnorm.ipynb"],
    "nbgrader": ["submitted/ana/rmsnorm/rmsnorm.ipynb", "submitted/bob/rmsnorm/rmsnorm.ipynb"],
    "wrapped": ["class A/week 2/ana/rmsnorm.ipynb", "class A/week 2/bob/final/rmsnorm.ipynb"],
    "flat": ["ana_rmsnorm.ipynb", "bob-rmsnorm (2).ipynb"],
    "sheet first": ["rmsnorm_ana.ipynb", "RMSNorm-bob.IPYNB"],
    "of the browser": ["ana_rmsnorm-v3f2a1c.ipynb", "bob_rmsnorm-v123456 (1).ipynb"],
    "names alone": ["ana.ipynb", "bob-Copy1.ipynb"],
    "renamed by their owners": ["ana/homework.ipynb", "bob/Untitled3.ipynb"],
}


@pytest.mark.parametrize("names", PLAIN_ZIPS.values(), ids=PLAIN_ZIPS)
@pytest.mark.parametrize("unpacked", [False, True])
def test_plain_zips_and_folders_of_a_class(course, tmp_path, names, unpacked):
    download = zipped(tmp_path / "class.zip", dict(zip(names, map(version, (1, 2)), strict=True)))
    if unpacked:
        with zipfile.ZipFile(download) as archive:
            archive.extractall(tmp_path / "class")
        download = tmp_path / "class"
    assert collect(course, SHEET, [download])[1] == []
    assert kept(course) == {"ana": 1, "bob": 2}


def test_one_student_s_folder_names_the_student(course, tmp_path):
    collect(course, SHEET, [zipped(tmp_path / "x.zip", {"class/ana/rmsnorm.ipynb": version(1)})])
    assert kept(course) == {"ana": 1}


def test_a_zip_that_a_student_handed_in_is_opened(course, tmp_path):
    inner = zipped(tmp_path / "work.zip", {"my work/rmsnorm.ipynb": version(1), "notes.txt": b""})
    outer = zipped(tmp_path / "c.zip", {"smithjane_1_2_work.zip": inner.read_bytes()})
    collect(course, SHEET, [outer])
    assert kept(course) == {"smithjane": 1}


def test_of_several_files_the_one_with_the_sheet_s_cells_counts(course, tmp_path):
    other = json.loads(PLAIN)
    other["cells"] = [
        {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": "swiglu"}}}
    ]
    files = {
        "ana/old.ipynb": version(1),
        "ana/sheet.ipynb": version(2),
        "ana/rmsnorm.ipynb": json.dumps(other),
        "ana/scratch.ipynb": b"{",
        "ana/numpy.py": b"evil = 1",
        "ana/.ipynb_checkpoints/rmsnorm-checkpoint.ipynb": version(3),
        "__MACOSX/ana/._rmsnorm.ipynb": b"\0",
        "ana/.DS_Store": b"\0",
        "ana/desktop.ini": b"",
    }
    collected, refused = collect(course, SHEET, [zipped(tmp_path / "x.zip", files)])
    assert kept(course) == {"ana": 2}
    assert collected[0].others == (
        "ana/numpy.py",
        "ana/old.ipynb",
        "ana/rmsnorm.ipynb",
        "ana/scratch.ipynb",
    )
    assert refused == []
    assert [path.name for path in (course.folder / "submitted/ana/rmsnorm").iterdir()] == [
        "rmsnorm.ipynb"
    ]


def test_a_broken_notebook_of_the_right_name_is_kept_to_be_told_as_broken(course, tmp_path):
    collect(course, SHEET, [zipped(tmp_path / "x.zip", {"ana/rmsnorm (1).ipynb": PLAIN[:700]})])
    assert course.notebook("submitted", "ana", SHEET).read_bytes() == PLAIN[:700]


def test_collecting_again_says_what_is_new(course, tmp_path):
    first = zipped(tmp_path / "1.zip", {"ana_1_5_rmsnorm.ipynb": version(1)})
    second = zipped(tmp_path / "2.zip", {"ana_1_9_rmsnorm-1.ipynb": version(2)})
    runs = [first, first, second, first]
    told = [collect(course, SHEET, [run])[0][0] for run in runs]
    assert [one.status for one in told] == [NEW, UNCHANGED, REPLACED, UNCHANGED]
    assert told[-1].remark == "older than ana_1_9_rmsnorm-1.ipynb, which stays"
    assert kept(course) == {"ana": 2}


UNSAFE = {
    "../../x/rmsnorm.ipynb": "its path leads out of the folder",
    "ana/../../bob/rmsnorm.ipynb": "its path leads out of the folder",
    "/etc/rmsnorm.ipynb": "its path is absolute",
    "C:/x/rmsnorm.ipynb": "its path is absolute",
    "..\\..\\x\\rmsnorm.ipynb": "its path has a backslash",
    "[a]*/rmsnorm.ipynb": "'[a]*' cannot be the name of a student's folder",
    "rmsnorm.ipynb": "nothing in its path names a student",
    "inner.zip": "it is no readable zip",
}


def test_what_could_lead_out_is_refused_by_name_and_the_others_are_collected(course, tmp_path):
    files = {"ana/rmsnorm.ipynb": version(1), **dict.fromkeys(UNSAFE, version(2))}
    download = zipped(tmp_path / "x.zip", files)
    link = zipfile.ZipInfo("eve/rmsnorm.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(download, "a") as archive:
        archive.writestr(link, "../../../gradebook.db")
    before = sorted(path for path in tmp_path.rglob("*") if "submitted" not in path.parts)
    _, refused = collect(course, SHEET, [download])
    assert {one.path: one.reason for one in refused} == {
        **UNSAFE,
        "eve/rmsnorm.ipynb": "it is a link",
    }
    assert kept(course) == {"ana": 1}
    after = {path for path in tmp_path.rglob("*") if "submitted" not in path.parts}
    assert {p.name for p in after.difference(before)} == {"collected", "rmsnorm.json"}


def test_a_link_in_a_folder_is_refused(course, tmp_path):
    folder = tmp_path / "class"
    (folder / "ana").mkdir(parents=True)
    (folder / "ana" / "rmsnorm.ipynb").symlink_to(NOTEBOOK)
    (folder / "eve").symlink_to(folder / "ana")
    _, refused = collect(course, SHEET, [folder])
    assert [one.path for one in refused] == ["eve", "ana/rmsnorm.ipynb"]
    assert kept(course) == {}


def test_a_zip_that_swells_is_refused(course, tmp_path, monkeypatch):
    monkeypatch.setattr("grader.collecting.entries.LARGEST", 1 << 20)
    download = tmp_path / "x.zip"
    with zipfile.ZipFile(download, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ana/rmsnorm.ipynb", b" " * (2 << 20))
    (refused,) = collect(course, SHEET, [download])[1]
    assert refused.reason == "it has 2 MiB, and 1 is the most"


def test_a_learner_s_zip_of_many_files_that_swell_is_refused_and_others_are_not(
    course, tmp_path, monkeypatch
):
    monkeypatch.setattr("grader.collecting.entries.MOST_UNPACKED", 3 << 20)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.ipynb", b" " * (1 << 20))
    files = {"bob/rmsnorm.ipynb": version(1), "eve/rmsnorm.zip": bomb.read_bytes()}
    _, refused = collect(course, SHEET, [zipped(tmp_path / "x.zip", files)])
    assert [one.path for one in refused] == [f"eve/rmsnorm.zip/{n}.ipynb" for n in (3, 4)]
    assert {one.reason for one in refused} == {"its zip unpacks to more than 256 MiB"}
    assert kept(course) == {"bob": 1}


def test_what_is_no_notebook_is_not_unpacked(tmp_path):
    download = zipped(tmp_path / "x.zip", {"ana/film.mp4": b"x" * 1000, "ana/a.ipynb": b"{}"})
    entries, _ = entries_of(download)
    assert {entry.path: entry.data for entry in entries} == {
        "ana/film.mp4": b"",
        "ana/a.ipynb": b"{}",
    }


# From the command line


def test_the_command_reports_and_says_by_its_exit_code_if_all_was_taken(course, tmp_path, capsys):
    files = {"ana/rmsnorm.ipynb": version(1), "bob/rmsnorm.ipynb": version(1)}
    times = tmp_path / "times.csv"
    times.write_text("student,submitted\nana,2026-10-24T23:59:00+02:00\n")
    download = zipped(tmp_path / "x.zip", files)
    words = ["collect", str(course.folder), SHEET, str(download), "--times", str(times)]
    assert cli.main(words) == 0
    assert capsys.readouterr().out == (
        "ana: new ana/rmsnorm.ipynb\nbob: new bob/rmsnorm.ipynb\nrmsnorm: 2 of 2 collected\n"
    )
    folder = course.folder / "submitted"
    assert (folder / "ana/rmsnorm/timestamp.txt").read_text() == "2026-10-24T23:59:00+02:00\n"
    assert not (folder / "bob/rmsnorm/timestamp.txt").exists()
    zipped(download, {"rmsnorm.ipynb": PLAIN})
    assert cli.main([*words, "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["refused"][0]["path"] == "rmsnorm.ipynb"
    assert err == "refused rmsnorm.ipynb: nothing in its path names a student\n"


@pytest.mark.parametrize("text", ["student\nana\n", "student,submitted\nana,soon\n", "a\n1\n"])
def test_times_that_cannot_be_read_get_one_line(course, tmp_path, capsys, text):
    (tmp_path / "times.csv").write_text(text)
    words = ["collect", course.folder, SHEET, NOTEBOOK, "--times", tmp_path / "times.csv"]
    assert cli.main(list(map(str, words))) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path / 'times.csv'}, line 2: wants the columns student and submitted, with times "
        "such as 2026-10-24T23:59:00+02:00\n"
    )


def test_collecting_does_not_depend_on_the_locale(course, tmp_path):
    download = zipped(tmp_path / "x.zip", {"muñozzoë_1_2_rmsnorm.ipynb": version(1)})
    run = subprocess.run(
        [sys.executable, "-m", "grader", "collect", course.folder, SHEET, download],
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(NOTEBOOK.parents[1])},
        capture_output=True,
        check=True,
    )
    assert run.stdout.decode() == (
        "muñozzoë: new muñozzoë_1_2_rmsnorm.ipynb\nrmsnorm: 1 of 1 collected\n"
    )


# What marking finds in a submission's folder


def found(folder):
    path, notes = find_submission(folder, "rmsnorm.ipynb", IDS)
    return path and path.name, [(note.kind, note.text) for note in notes]


@pytest.fixture
def handed_in(tmp_path):
    folder = tmp_path / "ana" / "rmsnorm"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "name", ["rmsnorm (1).ipynb", "rmsnorm-Copy1.ipynb", "RMSNORM.IPYNB", "my sheet.ipynb"]
)
def test_a_renamed_notebook_is_known_by_its_cells(handed_in, name):
    (handed_in / name).write_bytes(PLAIN)
    (handed_in / "scratch.ipynb").write_text('{"cells": []}')
    (handed_in / ".DS_Store").touch()
    assert found(handed_in) == (
        name,
        [("renamed file", f"{name} was taken for rmsnorm.ipynb")],
    )


def test_the_right_name_wins_without_a_word(handed_in):
    (handed_in / "rmsnorm.ipynb").write_bytes(b"{")
    (handed_in / "rmsnorm (1).ipynb").write_bytes(PLAIN)
    assert found(handed_in) == ("rmsnorm.ipynb", [])


def test_two_that_could_be_the_notebook_are_named_and_none_is_taken(handed_in):
    for name in ("a.ipynb", "b.ipynb"):
        (handed_in / name).write_bytes(PLAIN)
    reason = "more than one could be rmsnorm.ipynb: a.ipynb, b.ipynb"
    assert found(handed_in) == (None, [("no notebook", reason)])


def test_what_is_there_instead_is_named(handed_in):
    (handed_in / "essay.docx").touch()
    reason = "no rmsnorm.ipynb among essay.docx"
    assert found(handed_in) == (None, [("no notebook", reason)])
    assert found(handed_in.parent / "swiglu") == (None, [])


def test_a_link_is_not_followed_wherever_it_is(handed_in, tmp_path):
    (handed_in / "rmsnorm.ipynb").symlink_to(NOTEBOOK)
    refused = ("refused link", "rmsnorm.ipynb is a link, and links are not followed")
    assert found(handed_in) == (None, [refused])
    (tmp_path / "eve").symlink_to(handed_in.parent)
    path, (kind, text) = (
        found(tmp_path / "eve" / "rmsnorm")[0],
        found(tmp_path / "eve/rmsnorm")[1][0],
    )
    assert (path, kind) == (None, "refused link")
    assert text.startswith("eve is a link")
