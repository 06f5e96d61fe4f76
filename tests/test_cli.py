"""The command line: quick help, one line for a user's mistake, exit codes that can be relied on."""

import json
import subprocess
import sys

import pytest

from grader import cli
from grader.gradebook import Mark
from grader.records import FAILED, GRADED, NOT_SUBMITTED, PASSED, WAITING, CellRecord, Record
from grader.table import as_json, print_table

LOADED = """
import runpy, sys
sys.argv = ["grader", "--help"]
try:
    runpy.run_module("grader", run_name="__main__", alter_sys=True)
finally:
    print([name for name in ("nbformat", "nbgrader", "jupytext", "rich", "IPython")
           if sys.modules.get(name)], file=sys.stderr)
"""


def test_help_names_every_verb_and_loads_no_notebook_library():
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert run.stderr == "[]\n"
    assert all(f"    {verb} " in run.stdout for verb in cli.VERBS)


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help(verb, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([verb, "--help"])
    assert end.value.code == 0
    assert cli.VERBS[verb].about in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["biuld"],
            "there is no verb 'biuld': did you mean build? See: python -m grader --help",
        ),
        (
            ["xyz"],
            f"there is no verb 'xyz': did you mean {' or '.join(cli.VERBS)}? "
            "See: python -m grader --help",
        ),
        ([], f"which verb? {', '.join(cli.VERBS)}; see: python -m grader --help"),
        (
            ["build", "--chek"],
            "unrecognized arguments: --chek; see: python -m grader --help",
        ),
        (
            ["grade", "here"],
            "the following arguments are required: SHEET; see: python -m grader grade --help",
        ),
        (
            ["build", "--root", "nowhere"],
            "no sheets in nowhere/solutions: name the repository with --root",
        ),
        (
            ["course", "full"],
            "full is not an empty folder: name a new one",
        ),
        (
            ["course", "full/file"],
            "full/file is not an empty folder: name a new one",
        ),
        (
            ["course", "full", "--update"],
            "full is no course folder: make one with: python -m grader course full",
        ),
        (
            ["grade", "full", "rmsnorm"],
            "full is no course folder: make one with: python -m grader course full",
        ),
        (
            ["grade", "nowhere", "rmsnorm"],
            "nowhere is no course folder: make one with: python -m grader course nowhere",
        ),
    ],
)
def test_a_wrong_command_gets_one_line_and_exit_code_2(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", said + "\n")


def test_a_path_with_a_pattern_in_it_is_refused_before_anything_is_made(tmp_path, capsys):
    assert cli.main(["course", str(tmp_path / "class [a]")]) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path}/class [a]: nbgrader cannot work in a path with any of * ? [ ]\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_gets_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert cli.main(["course", "file/course"]) == 1
    assert capsys.readouterr().err == "file/course/source: Not a directory\n"


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (
            ModuleNotFoundError("no", name="jupytext"),
            "jupytext is missing: install the grader with: pip install '.[grader]'",
        ),
        (KeyboardInterrupt(), "stopped"),
        (PermissionError(13, "Permission denied", "x.ipynb"), "x.ipynb: Permission denied"),
    ],
)
def test_trouble_on_the_way_gets_one_line_and_exit_code_1(trouble, said, monkeypatch, capsys):
    def fail(options):
        raise trouble

    monkeypatch.setitem(cli.VERBS, "build", cli.Verb("fail", lambda parser: None, fail))
    assert cli.main(["build"]) == 1
    assert capsys.readouterr().err == said + "\n"


def test_our_own_errors_are_not_hidden(monkeypatch):
    def fail(options):
        raise ZeroDivisionError

    monkeypatch.setitem(cli.VERBS, "build", cli.Verb("fail", lambda parser: None, fail))
    with pytest.raises(ZeroDivisionError):
        cli.main(["build"])


RECORDS = [
    Record(
        "[red]ana",
        "rmsnorm",
        GRADED,
        cells=(
            CellRecord("f-value", "f is right.", PASSED, 92.5, 94.0),
            CellRecord("in_words", "in_words", WAITING, None, 6.0, by_hand=True),
        ),
    ),
    Record("ñ" * 60, "rmsnorm", FAILED, "not a readable notebook: " + "x" * 60),
    Record("carl", "rmsnorm", NOT_SUBMITTED, "nothing handed in"),
]


def test_the_table_has_a_line_per_student_and_a_count_and_wraps_nothing_in_a_pipe(capsys):
    print_table("rmsnorm", RECORDS, {})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    told = [line for line in lines if line and line[0] in {r.student for r in RECORDS}]
    assert told == [
        ["[red]ana", "92.5", "of", "94", "in_words", "(6)"],
        ["ñ" * 60, "–", "failed:", "not", "a", "readable", "notebook:", "x" * 60],
        ["carl", "–", "not", "submitted:", "nothing", "handed", "in"],
    ]
    assert " ".join(lines[-1]) == "rmsnorm: 1 graded, 1 failed, 1 not submitted"


def test_who_was_marked_by_hand_does_not_wait_until_the_answer_is_another(capsys):
    for waits, named in ((False, []), (True, ["in_words", "(6)"])):
        marks = {"[red]ana": {"in_words": Mark(by_hand=4.0, waiting=waits)}}
        print_table("rmsnorm", RECORDS[:1], marks)
        line = next(line for line in capsys.readouterr().out.splitlines() if "[red]ana" in line)
        assert line.split() == ["[red]ana", "92.5", "of", "94", *named]
        (facts,) = json.loads(as_json("rmsnorm", RECORDS[:1], marks))["students"]
        assert bool(facts["waiting"]) is waits


def test_json_keeps_not_submitted_apart_from_no_points():
    zero = CellRecord("f-value", "f is right.", "wrong", 0.0, 8.0)
    dora = Record("dora", "rmsnorm", GRADED, "no points: f-value", (zero,))
    facts = json.loads(as_json("rmsnorm", [RECORDS[2], dora], {}))
    assert facts["assignment"] == "rmsnorm"
    assert [(s["status"], s["points"], s["marks"]) for s in facts["students"]] == [
        ("not submitted", None, {}),
        ("graded", 0.0, {"f-value": 0.0}),
    ]
