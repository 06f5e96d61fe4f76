"""Every sheet through the engine: the stated marks, and no library function gives them away."""

import json
from pathlib import Path

import pytest

from grader import authoring
from grader.engine.habits import learn_habits
from grader.engine.jail import Jail
from grader.engine.limits import Limits
from grader.engine.marking import mark
from grader.engine.masters import master_of
from grader.engine.stage import set_stage

ROOT = Path(__file__).resolve().parent.parent
STATED = {file.parent.name: file for file in (ROOT / "tests" / "submissions").glob("*/marks.json")}
LIMITS = Limits(seconds=60.0)
pytestmark = pytest.mark.marking


def master_of_sheet(sheet):
    solved = json.loads(authoring.to_bytes(authoring.master(ROOT / "solutions" / f"{sheet}.md")))
    released = json.loads((ROOT / "notebooks" / f"{sheet}.ipynb").read_text("utf-8"))
    return master_of(solved, released)


@pytest.fixture(params=sorted(STATED))
def sheet(request, tmp_path):
    """A sheet's name, its master, and a sandbox for it."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o755)
    master = master_of_sheet(request.param)
    set_stage(tmp_path / "stage", [master])
    with Jail(tmp_path / "stage", LIMITS) as jail:
        yield request.param, master, jail


def test_the_sheet_s_submissions_get_the_stated_marks_and_its_own_answers_full_ones(sheet):
    name, master, jail = sheet
    habits = learn_habits(master, jail, LIMITS)
    assert (habits.sandboxed, habits.troubles) == (frozenset(), ())
    for submission, stated in json.loads(STATED[name].read_text("utf-8")).items():
        data = (STATED[name].parent / f"{submission}.ipynb").read_bytes()
        record, _ = mark(master, data, jail, LIMITS, habits, submission, name)
        assert {c.name: c.points for c in record.cells if not c.by_hand} == stated, submission
        assert not [note for note in record.notes if note.kind == "suspicious"]


def test_answers_taken_from_the_library_earn_nothing(sheet):
    name, master, jail = sheet
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8"))
    taken = "import pkgutil, importlib, transformer_block\n"
    taken += "for m in pkgutil.iter_modules(transformer_block.__path__):\n    try:\n"
    taken += "        module = importlib.import_module(f'transformer_block.{m.name}')\n"
    taken += "    except Exception: continue\n"
    taken += "    globals().update({k: v for k, v in vars(module).items() if k in ASKED})\n"
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code" and meta.get("solution"):
            cell["source"] = f"ASKED = {sorted(master.asked)!r}\n{taken}"
    habits = learn_habits(master, jail, LIMITS)
    record, _ = mark(master, json.dumps(notebook).encode(), jail, LIMITS, habits, "x", name)
    assert {c.name: c.points for c in record.cells if not c.by_hand and c.points} == {}
