"""Holes found by attacking the engine: twins in the library, forged talk, endless work."""

import json
import os
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from classes import REPOSITORY
from hostile import FULL, RIGHT, answering, beginning, changed
from test_engine_sheets import master_of_sheet

from grader.engine.composing import outputs_of, stream
from grader.engine.far.decoding import Decoder
from grader.engine.far.encoding import Encoder
from grader.engine.far.values import Owned
from grader.engine.far.wire import HEAD, MAGIC, Garbled, Line, pair
from grader.engine.habits import learn_habits
from grader.engine.jail import Jail, Lost
from grader.engine.limits import Limits
from grader.engine.link import Link
from grader.engine.marking import _kept, mark
from grader.engine.reading import read
from grader.engine.stage import set_stage
from grader.engine.student import Student
from grader.engine.telling import Written, error_from
from grader.engine.withheld import NOT_GIVEN

LIMITS = Limits(seconds=20.0)
pytestmark = pytest.mark.marking


class Marker:
    """A sheet, its sandbox, and how its tests are run."""

    def __init__(self, sheet, folder):
        self.sheet, self.master = sheet, master_of_sheet(sheet)
        for above in (folder, *folder.parents[:3]):
            above.chmod(above.stat().st_mode | 0o755)
        set_stage(folder / "stage", [self.master])
        self.jail = Jail(folder / "stage", LIMITS)

    def __enter__(self):
        self.jail.__enter__()
        self.habits = learn_habits(self.master, self.jail, LIMITS)
        return self

    def __exit__(self, *trouble):
        self.jail.__exit__(*trouble)

    def mark(self, data, limits=LIMITS):
        record, notebook = mark(self.master, data, self.jail, limits, self.habits, "x", self.sheet)
        return {c.name: c.points for c in record.cells if not c.by_hand}, record, notebook


@pytest.fixture(scope="module")
def rmsnorm(tmp_path_factory):
    with Marker("rmsnorm", tmp_path_factory.mktemp("rmsnorm")) as marker:
        yield marker


# What computes the same under another name, of each sheet.
TWINS = {
    "rmsnorm": {
        "rmsnorm_forward": "def rmsnorm_forward(x, weight, eps=1e-5):\n"
        "    from transformer_block.fast import _rmsnorm_forward as twin\n"
        "    a, b = np.empty_like(x), np.empty_like(x)\n"
        "    cache = twin(x, weight, eps, a, b)\n    return b, cache",
        "layernorm_from_rmsnorm": "def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):\n"
        "    from transformer_block.layernorm import layernorm_forward as twin\n"
        "    return twin(x, weight, bias, eps)[0]",
    },
    "block": {
        "transformer_block_forward": "def transformer_block_forward(x, params, n_heads, *rest):\n"
        "    from transformer_block.contrasts import contrast_block_forward as twin\n"
        "    return twin(x, params, n_heads, *rest)",
    },
    "stack": {
        "next_token_loss": "def next_token_loss(logits, ids):\n"
        "    from transformer_block.loss import cross_entropy_forward as twin\n"
        "    return twin(logits[..., :-1, :], ids[..., 1:])[0]",
    },
    "attention": {
        "turn_pairs": "def turn_pairs(x, angles):\n"
        "    from transformer_block.rope import _turn as twin\n"
        "    return twin(x, np.cos(angles), np.sin(angles), False)",
        "softmax": "def softmax(scores):\n"
        "    from transformer_block.loss import log_softmax as twin\n"
        "    return np.exp(twin(scores))",
    },
    "swiglu": {
        "swiglu_width": "def swiglu_width(d, multiple_of=256):\n"
        "    from transformer_block.counting import gated_width as twin\n"
        "    return twin(d, multiple_of)",
    },
    "counting": {
        "width_for_budget": "def width_for_budget(b, d, multiple_of=256, rounding='up'):\n"
        "    from transformer_block.counting import width_within as twin\n"
        "    return twin(b, d, multiple_of)",
        "model_parameters": "def model_parameters(model):\n"
        "    from transformer_block.counting import total_parameters as twin\n"
        "    return twin(model)",
    },
    "residual_stream": {
        "pre_norm_update": "def pre_norm_update(x, sublayer, weight, eps=1e-5):\n"
        "    from transformer_block.contrasts import _half_forward as twin\n"
        "    norm = lambda t: rmsnorm_forward(t, weight, eps)\n"
        "    return twin(x, norm, lambda t: (sublayer(t), 0), 'pre')[0]",
    },
}


@pytest.mark.parametrize("sheet", TWINS)
def test_another_name_for_the_same_earns_nothing(sheet, tmp_path):
    def change(cells, cell):
        for name, source in TWINS[sheet].items():
            cell(name)["source"] = source

    blank = json.loads((REPOSITORY / "notebooks" / f"{sheet}.ipynb").read_text("utf-8"))
    with Marker(sheet, tmp_path) as marker:
        points, record, _ = marker.mark(changed(change, blank))
    assert {name: won for name, won in points.items() if won} == {}
    # Feedback says what was raised and where, and of the words those that are the library's own.
    told = str([c.sentence for c in record.cells])
    assert "raised RuntimeError: transformer_block." in told
    assert "is not there while this sheet is marked" in told


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (NOT_GIVEN.format(dotted="transformer_block.fast.fast_block_forward"), True),
        (NOT_GIVEN.format(dotted="transformer_block.fast.secret_0110"), False),
        (NOT_GIVEN.format(dotted="transformer_block.block.transformer_block_forward"), False),
        ("transformer_block.fast.fast_block_forward is not there while 0.37 0.12", False),
        ("0.37 0.12", False),
    ],
)
def test_of_an_exception_s_words_only_the_library_s_own_are_told(text, ours):
    written = Written()
    written.add("from transformer_block.fast import fast_block_forward, secret_0110")
    told = {"type": "RuntimeError", "text": text, "bases": ["RuntimeError"], "frames": []}
    assert error_from(told, written).ours is ours


def test_what_one_test_hands_over_answers_no_other(tmp_path):
    """A test of ``wrong_gradients`` is given the very function that another answer should be."""
    right = (REPOSITORY / "tests" / "submissions" / "block" / "right.ipynb").read_text("utf-8")

    def steal(cells, cell):
        cell("wrong_gradients")["source"] = (
            "def wrong_gradients(backward):\n"
            "    if backward.__name__ == 'transformer_block_backward':\n"
            "        globals()[backward.__name__] = backward\n    return []"
        )
        cell("transformer_block_backward")["source"] = ""
        moved = [c for c in cells if c["id"].startswith("transformer_block_backward")]
        cells[:] = [c for c in cells if c not in moved] + moved

    with Marker("block", tmp_path) as marker:
        points, _, _ = marker.mark(changed(steal, json.loads(right)))
    stolen = [n for n, won in points.items() if won and n.startswith("transformer_block_backward")]
    assert stolen == []


def near(reply, data=b""):
    """Return a link to a far side that answers once with a tree and its bytes."""
    here, there = pair()
    text = json.dumps({"k": "reply", "v": reply}).encode()
    there.sendall(HEAD.pack(MAGIC, len(text), len(data)) + text + data)
    link = Link(here)
    link.allow(5)
    return link, there


def tree_and_parts(value):
    encoder = Encoder(Owned())
    return encoder.encode(value), b"".join(encoder.parts)


def tree(value):
    return tree_and_parts(value)[0]


@pytest.mark.parametrize("endless", ["bases", "frames"])
def test_a_range_in_the_place_of_a_list_is_not_walked_through(endless):
    told = {"type": "A", "text": "t", "bases": ["ValueError"], "frames": []}
    told[endless] = range(10**12)
    link, there = near(tree({"outputs": [], "error": told}))
    assert link.run("x")["error"]["type"] == "A"
    there.close()
    link.close()


@pytest.mark.parametrize("broken", [[3], [[1]], [[1, 2, 3]], [["x", "y", "z"]], {"a": 1}])
def test_frames_of_no_form_are_left_out(broken):
    told = {"type": "A", "text": "t", "bases": [], "frames": broken}
    link, there = near(tree({"outputs": [], "error": told}))
    assert len(link.run("x")["error"]["frames"]) <= 1
    there.close()
    link.close()


@pytest.mark.parametrize("key", ["stream", "show"])
@pytest.mark.parametrize("odd", [np.zeros(2), np.zeros(0), range(10**12), ["x"], {"a": 1}, 1.5])
def test_an_output_of_which_something_else_is_sent_costs_its_submission_no_mark(key, odd):
    """An array in the place of a word ended the marking process, and nobody was marked."""
    item = {"stream": "stderr", "text": "x", "show": "execute_result", "data": {"text/plain": "x"}}
    for part in ({"text", key}, {"data", key}):
        sent = {name: odd if name == key else item[name] for name in part}
        link, there = near(*tree_and_parts({"outputs": [sent], "error": None}))
        assert outputs_of(link.run("x"), 0)[0]["output_type"] in ("stream", "display_data")
        there.close()
        link.close()


def test_warnings_without_end_are_not_given():
    link, there = near(tree({"value": 1, "warned": range(10**12)}))
    assert link.call(None, [], {}) == 1
    there.close()
    link.close()


@pytest.mark.parametrize("kind", ["StopIteration", "StopAsyncIteration"])
def test_an_error_that_ends_loops_ends_no_loop_of_a_test(kind):
    told = {"type": kind, "text": "x", "bases": [kind, "Exception"], "frames": []}

    def answer(x):
        raise error_from(told)

    with pytest.raises(Exception, match="x"):
        all(map(answer, [1, 2, 3]))


def test_only_what_was_handed_over_can_be_called():
    here, there = pair()
    link = Link(here)
    reply = link._serve("call", {"function": list, "args": [range(3)], "kwargs": {}})
    assert "error" in reply
    link.peer.owned.number(len)
    assert link._serve("call", {"function": len, "args": ["abc"], "kwargs": {}}) == {"value": 3}
    link.begin_test(frozenset(), write_back=True)
    assert "error" in link._serve("call", {"function": len, "args": ["abc"], "kwargs": {}})
    link.close()
    there.close()


def test_a_tree_of_too_many_parts_is_refused():
    many = {"t": "list", "v": [0] * 1_000_000}
    with pytest.raises(Garbled):
        Decoder(Owned(), None, b"")(many)


def test_who_sends_drop_by_drop_is_looked_at_all_the_same():
    here, there = pair()
    line, looks = Line(here), []
    line.deadline, line.watch = time.monotonic() + 5, lambda: looks.append(1)
    there.sendall(b"x" * 3)
    line._read(3)
    assert looks
    there.close()
    here.close()


@pytest.fixture
def student(rmsnorm):
    running = Student(rmsnorm.jail, LIMITS)
    yield running
    running.close()


@pytest.mark.parametrize(
    "code",
    [
        "libc.syscall(319, b'x', 0)",  # memfd_create
        "libc.shmget(0, 1 << 20, 0o1600)",
    ],
)
def test_memory_that_nobody_counts_is_not_to_be_had(student, code):
    run = student.run(f"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n{code}")
    assert run["outputs"][-1]["data"] == {"text/plain": "-1"}


ONE_SECOND = Limits(seconds=1.0, cells_in_full=3)


def test_many_endless_cells_take_no_more_than_the_notebook_has(rmsnorm):
    def add(cells, cell):
        own = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "while True: pass"}
        cells[3:3] = [{**own, "id": f"own{n}"} for n in range(40)]

    started = time.monotonic()
    points, _, notebook = rmsnorm.mark(changed(add, RIGHT), ONE_SECOND)
    assert points == FULL
    assert time.monotonic() - started < 20
    assert b"have taken the time" in notebook


def test_cells_that_run_again_after_each_crash_have_an_end(rmsnorm):
    running = Student(rmsnorm.jail, ONE_SECOND)
    running.run("import time; time.sleep(0.8)")
    running.run("import time; time.sleep(0.8)")
    started = time.monotonic()
    for _ in range(20):
        with pytest.raises(Lost):
            running.run("import os; os._exit(0)")
    running.close()
    assert time.monotonic() - started < 12


def test_a_far_side_that_was_taken_over_cannot_fill_the_disk():
    marking = SimpleNamespace(room=1000)
    shown = [stream("y" * 300)]
    assert [_kept(marking, shown) == shown for _ in range(5)] == [True, True, False, False, False]


@pytest.mark.parametrize("source", [f"np{'.a' * 900} = 1", f"x = {'-' * 900}1"])
def test_code_too_deep_to_be_looked_at_costs_nothing(rmsnorm, source):
    assert rmsnorm.mark(beginning(source, RIGHT))[0] == FULL


def test_metadata_that_nest_cost_nothing(rmsnorm):
    deep = []
    for _ in range(900):
        deep = [deep]

    def nest(cells, cell):
        cell("half_rms-value")["metadata"]["nbgrader"]["points"] = deep

    points, record, _ = rmsnorm.mark(changed(nest))
    assert points == FULL
    assert "changed points" in [note.kind for note in record.notes]
    with pytest.raises(Exception, match="notebook format 'list'"):
        read(json.dumps({"nbformat": deep, "cells": []}).encode())


SEEN = "SEEN = []\ndef half_rms(eps):\n    SEEN.append(eps)\n    return 0.0"


@pytest.mark.parametrize(
    "later",
    [
        "raise ValueError(f'x is {SEEN}')",
        "raise type(f'x_is_{int(SEEN[0] * 1e9)}', (ValueError,), {})",
        "raise NameError(f\"name 'x{int(SEEN[0] * 1e9)}' is not defined\")",
        "raise SyntaxError(f'x is {SEEN}')",
        "normalize_vjp = f'x is {SEEN}'",
    ],
)
def test_what_a_test_handed_in_is_not_told_by_a_later_cell(rmsnorm, later):
    def lean(cells, cell):
        cell("half_rms")["source"] = SEEN
        cell("normalize_vjp")["source"] = later

    points, record, _ = rmsnorm.mark(changed(lean))
    told = [c.sentence for c in record.cells if c.name.startswith("normalize_vjp")]
    assert all(told)
    assert not [sentence for sentence in told if "x is" in sentence or "10000" in sentence]
    assert points["half_rms-value"] == points["normalize_vjp-value"] == 0


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("root = W", "NameError: name 'W' is not defined"),
        ("import torch", "ModuleNotFoundError: No module named 'torch'"),
        ("def half_rms(eps):\n  return eps +", "SyntaxError: invalid syntax, line 2"),
        ("np.sqroot(3)", "AttributeError: module 'numpy' has no attribute 'sqroot'"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_why_a_cell_failed_is_told_in_python_s_words(rmsnorm, source, why):
    _, record, _ = rmsnorm.mark(answering(source))
    (told,) = [c.sentence for c in record.cells if c.name == "half_rms-value"]
    assert told == f"There is no half_rms in the notebook: its cell raised {why}."


def test_a_group_of_errors_is_told_without_a_line_of_ours(rmsnorm):
    source = "def half_rms(eps):\n    raise ExceptionGroup('x', [ValueError('y')])"
    _, record, _ = rmsnorm.mark(answering(source))
    (told,) = [c.sentence for c in record.cells if c.name == "half_rms-value"]
    assert told.splitlines() == [
        "half_rms raised ExceptionGroup.",
        "  line 2, in half_rms: raise ExceptionGroup('x', [ValueError('y')])",
    ]


CROWD = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        time.sleep(60)
time.sleep(1)
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
except PermissionError:
    print("refused")
"""


def test_a_crowd_of_processes_is_kept_to_one_processor_and_stays_there(rmsnorm, student):
    """Else what is marked beside it gets a part of its time, and may be late."""
    outputs = student.run(CROWD)["outputs"]
    assert [output["text"] for output in outputs] == ["refused\n"]
    last = max(os.sched_getaffinity(0))
    below = psutil.Process(rmsnorm.jail.process.pid).children(recursive=True)
    assert sum(process.cpu_affinity() == [last] for process in below) == 9


def test_a_cell_without_end_is_not_run_and_costs_nothing_else(rmsnorm):
    points, _, notebook = rmsnorm.mark(beginning("x = 1\n" * 100_000, RIGHT))
    assert points == FULL
    assert b"not run: a cell has 500000 characters at the most" in notebook
