"""What was found out about a master's tests is kept, and found out again when anything differs."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from grader.engine import remembering
from grader.engine.limits import Limits
from grader.engine.remembering import Habits, key_of, recall, remember

FOUND = {
    "rmsnorm": Habits(),
    "other": Habits(frozenset({"b", "a"}), frozenset({"c"})),
}
MASTERS = {"rmsnorm": SimpleNamespace(digest="1"), "other": SimpleNamespace(digest="2")}


def test_what_is_kept_comes_back(tmp_path):
    remember(tmp_path, "ps", "key", FOUND)
    assert recall(tmp_path, "ps", "key") == FOUND


def test_another_key_finds_nothing(tmp_path):
    remember(tmp_path, "ps", "key", FOUND)
    assert recall(tmp_path, "ps", "other key") is None
    assert recall(tmp_path, "another", "key") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"key": "key", "habits": 3}', "nonsense"])
def test_a_broken_file_finds_nothing(tmp_path, text):
    remember(tmp_path, "ps", "key", FOUND)
    next((tmp_path / "records" / ".habits").iterdir()).write_text(text)
    assert recall(tmp_path, "ps", "key") is None


def test_the_key_depends_on_masters_bounds_sandbox_and_code(tmp_path, monkeypatch):
    for part in remembering.PARTS:
        (tmp_path / part).mkdir()
    code = tmp_path / "grader" / "code.py"
    code.write_text("1")
    monkeypatch.setattr(remembering, "ROOT", tmp_path)
    changed = {**MASTERS, "other": SimpleNamespace(digest="3")}
    key = key_of(MASTERS, Limits(), "auto")
    assert key == key_of(MASTERS, Limits(), "auto")
    others = [
        key_of(changed, Limits(), "auto"),
        key_of(MASTERS, replace(Limits(), seconds=1.0), "auto"),
        key_of(MASTERS, Limits(), "limits"),
    ]
    code.write_text("2")
    others.append(key_of(MASTERS, Limits(), "auto"))
    assert len({key, *others}) == 5


def test_the_file_is_for_people_as_well(tmp_path):
    remember(tmp_path, "ps", "key", FOUND)
    kept = json.loads((tmp_path / "records" / ".habits" / "ps.json").read_text())
    assert kept["habits"]["other"] == [["a", "b"], ["c"]]
