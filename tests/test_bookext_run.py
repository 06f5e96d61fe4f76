"""Code that runs on the page: its block, its scripts, and the Python that it needs."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from bookext import pyodide
from bookext.answers import answer_of
from bookext.run import STUDENT_SIDE, Run, _pack_course
from pages import page_names

from grader import check
from grader.sheet import read_sheet

ROOT = Path(__file__).parents[1]
SHEETS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
LOCK = {
    "info": {"version": "0"},
    "packages": {
        "a": {"depends": ["b"], "file_name": "a.whl", "sha256": "…"},
        "b": {"depends": [], "file_name": "b.whl", "sha256": "…"},
        "c": {"depends": [], "file_name": "c.whl", "sha256": "…"},
    },
}


@pytest.fixture
def offline(monkeypatch):
    """Make a network without Pyodide's address, and an index whose wheel holds what is asked."""
    monkeypatch.setattr(pyodide, "_answers", lambda version, name: False)

    def carry(contents):
        def carried(names, _version, scratch):
            for name in names:
                (scratch / name).write_bytes(contents)
                yield name, scratch / name

        monkeypatch.setattr(pyodide, "_carried", carried)

    return carry


def test_what_a_package_needs_comes_along_and_nothing_else():
    assert set(pyodide.packages_needed(LOCK, ["a"])) == {"a.whl", "b.whl"}


def test_a_package_is_fetched_once_and_then_kept(tmp_path, offline, monkeypatch):
    offline(b"contents")
    wanted = {"a.whl": hashlib.sha256(b"contents").hexdigest()}
    pyodide.fetch_packages(wanted, tmp_path, "0")
    assert (tmp_path / "a.whl").read_bytes() == b"contents"
    monkeypatch.delattr(pyodide, "_carried")  # a second fetch would fail
    pyodide.fetch_packages(wanted, tmp_path, "0")


def test_a_package_that_the_lock_does_not_name_is_refused(tmp_path, offline):
    offline(b"something else")
    wanted = {"a.whl": hashlib.sha256(b"contents").hexdigest()}
    with pytest.raises(ValueError, match=r"^a\.whl is not the file of Pyodide's lock"):
        pyodide.fetch_packages(wanted, tmp_path, "0")
    assert not list(tmp_path.iterdir())


def test_a_damaged_package_is_fetched_again(tmp_path, offline):
    offline(b"contents")
    (tmp_path / "a.whl").write_bytes(b"cut off")
    wanted = {"a.whl": hashlib.sha256(b"contents").hexdigest()}
    pyodide.fetch_packages(wanted, tmp_path, "0")
    assert (tmp_path / "a.whl").read_bytes() == b"contents"


def test_without_a_network_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(pyodide, "_answers", lambda version, name: False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")  # nobody is there
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(OSError, match=r"^Python's packages for the browser could not be fetched: "):
        pyodide.fetch_packages({"a.whl": "0"}, tmp_path, "0")


def test_the_packed_course_is_what_a_learner_may_import_and_always_the_same(tmp_path):
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    _pack_course(ROOT, first)
    _pack_course(ROOT, second)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        names = packed.namelist()
    assert {"transformer_block/rmsnorm.py", "grader/__init__.py"} < set(names)
    assert not [name for name in names if "engine/jail" in name or "widgets" in name]
    assert all(list(ROOT.glob(pattern)) for pattern in STUDENT_SIDE)


def test_the_packed_course_has_what_the_first_cell_of_every_sheet_imports(tmp_path):
    packed = tmp_path / "course.zip"
    _pack_course(ROOT, packed)
    with zipfile.ZipFile(packed) as course:
        course.extractall(tmp_path / "course")
    cells = (
        json.loads((ROOT / f"notebooks/{sheet}.ipynb").read_text("utf-8"))["cells"]
        for sheet in SHEETS
    )
    firsts = [
        "".join(c["source"]) for sheet in cells for c in sheet if c["id"].endswith("-setup-1")
    ]
    assert len(firsts) == len(SHEETS)
    code = "\n".join(["import sys; sys.path.insert(0, 'course')", *firsts])
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count(": ready.") == len(SHEETS)


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_page_with_a_sheet_runs_an_exercise_of_it_and_its_answer(sheet):
    page = f"book/{'in_practice' if sheet == 'llama' else sheet}"
    assert page in page_names()
    text = (ROOT / f"{page}.md").read_text("utf-8")
    exercise, given = re.search(rf"{{run}} {sheet}/(\S+)\n(?::given: (\S+)\n)?```", text).groups()
    cells = json.loads((ROOT / f"notebooks/{sheet}.ipynb").read_text("utf-8"))["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    assert "NotImplementedError" in sources[exercise]
    directive = SimpleNamespace(
        options={"given": given} if given else {}, _cell=lambda _, name: sources[name]
    )
    names = {}
    exec(Run._setup(directive, sheet), names)
    exec(model_answer(sheet, exercise), names)
    check(names[exercise])


def model_answer(sheet, exercise):
    """Read the answer that Appendix D shows."""
    cells = read_sheet(ROOT / f"solutions/{sheet}.md")
    (cell,) = [c for c in cells if c.role == "answer" and c.head["answer"].endswith(exercise)]
    return answer_of(cell)
