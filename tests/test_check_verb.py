"""The verb check: what a learner sees before handing in is what marking will give."""

import json
import subprocess
import sys

import pytest
from classes import NOTEBOOK, REPOSITORY, SHEET

from grader import cli

pytestmark = pytest.mark.marking
SUBMISSIONS = REPOSITORY / "tests" / "submissions" / SHEET
MARKS = json.loads((SUBMISSIONS / "marks.json").read_text("utf-8"))


def check(capsys, path, *words):
    code = cli.main(["check", str(path), *words])
    return code, *capsys.readouterr()


def edited(tmp_path, change, name="right"):
    """Write a submission after a change of its cells."""
    notebook = json.loads((SUBMISSIONS / f"{name}.ipynb").read_text("utf-8"))
    change({cell["id"]: cell for cell in notebook["cells"]})
    path = tmp_path / "my notebook.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")
    return path


@pytest.mark.parametrize("name", ["right", "eps_outside", "untouched", "raises"])
def test_a_learner_sees_the_marks_that_will_be_given(capsys, name):
    code, out, _ = check(capsys, SUBMISSIONS / f"{name}.ipynb", "--json")
    facts = json.loads(out)
    given = {cell["name"]: cell["points"] for cell in facts["cells"] if not cell["by_hand"]}
    assert given == MARKS[name]
    assert code == (0 if name == "right" else 1)


def test_a_claim_that_fails_asks_its_question(capsys):
    code, out, _ = check(capsys, SUBMISSIONS / "eps_outside.ipynb")
    lines = out.splitlines()
    place = lines.index("✗ rmsnorm_forward-eps: 0 of 6, wrong")
    assert lines[place + 1].strip().endswith("?")
    assert lines[-1] == "rmsnorm: 80 of 94 points"
    assert "· rank_one_in_words: 6 points, marked by hand" in lines


def test_a_test_that_was_edited_is_the_master_s_all_the_same(capsys, tmp_path):
    def pass_anyway(cells):
        cells["rmsnorm_forward-eps"]["source"] = "assert True"

    assert check(capsys, edited(tmp_path, pass_anyway, "eps_outside"))[0] == 1


def test_what_works_only_with_hidden_state_is_told_before_handing_in(capsys, tmp_path):
    def lean_on_a_deleted_cell(cells):
        cells["half_rms"]["source"] = "root = W\ndef half_rms(eps):\n    return (eps / 3) ** root"

    code, _, err = check(capsys, edited(tmp_path, lean_on_a_deleted_cell))
    assert code == 1
    assert "name 'W' is not defined when the notebook is run from the top" in err


def test_a_loop_without_end_costs_its_own_claim_only(capsys, tmp_path):
    def loop(cells):
        cells["half_rms"]["source"] = "while True:\n    pass"

    code, out, _ = check(capsys, edited(tmp_path, loop), "--time-limit", "1", "--json")
    lost = [c["name"] for c in json.loads(out)["cells"] if c["points"] == 0]
    assert (code, lost) == (1, ["half_rms-value"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "No such file or directory"),
        (b'{"cells": []}', "is none of the course's sheets"),
        (NOTEBOOK.read_bytes()[:700], "is none of the course's sheets"),
    ],
)
def test_what_is_no_sheet_gets_one_line_and_exit_code_2(capsys, tmp_path, data, said):
    path = tmp_path / "x.ipynb"
    if data is not None:
        path.write_bytes(data)
    code, out, err = check(capsys, path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert said in err


def test_a_broken_file_of_a_sheet_s_name_is_told_as_broken(capsys, tmp_path):
    path = tmp_path / NOTEBOOK.name
    path.write_bytes(NOTEBOOK.read_bytes()[:700])
    code, _, err = check(capsys, path)
    assert code == 2
    assert err.startswith(f"{path}: not a readable notebook: broken at line ")


def test_a_ci_job_reads_the_exit_code():
    run = subprocess.run(
        [sys.executable, "-m", "grader", "check", SUBMISSIONS / "untouched.ipynb"],
        capture_output=True,
        check=False,
    )
    assert run.returncode == 1
