"""The instructor guide: its commands are run, and print what the page says that they print."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.late import Policy, read_policy

pytestmark = pytest.mark.marking
ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "instructors.md").read_text("utf-8")
CONSOLES = re.findall(r"^```console\n(.*?)^```", PAGE, re.S | re.M)
STEPS = [
    (command, wanted)
    for block in CONSOLES
    for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_page_s_commands_print_what_it_says(tmp_path):
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
    }
    assert len(STEPS) >= 9
    for command, wanted in STEPS:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # a terminal shows both
            text=True,
            check=False,
        )
        told = run.stdout.replace(str(tmp_path), "/home/ana")
        assert run.returncode == 0, (command, told)
        wanted = wanted.replace("…", "...")
        assert doctest.OutputChecker().check_output(wanted, told, FLAGS), (command, told)


def test_every_verb_that_is_named_exists():
    assert set(re.findall(r"python -m grader ([a-z]+)", PAGE)) <= set(cli.VERBS)


def test_every_verb_for_instructors_is_explained():
    named = {word for code in re.findall(r"`([^`]+)`", PAGE) for word in code.split()}
    named |= set(re.findall(r"python -m grader ([a-z]+)", PAGE))
    assert set(cli.VERBS) - {"build"} <= named


def test_the_example_of_a_late_policy_is_one(tmp_path):
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.S | re.M)
    (tmp_path / "late.toml").write_text(example, "utf-8")
    policy = read_policy(tmp_path)
    assert isinstance(policy, Policy)
    assert policy.due_for("rmsnorm", "jane").isoformat() == "2026-10-27T23:59:00"
