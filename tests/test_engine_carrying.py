"""What goes over as text: it computes the same there, and never before it would be an answer."""

import ast
import json
import sys
from types import ModuleType

import numpy as np
import pytest
from classes import REPOSITORY
from hostile import changed
from test_engine_attacks import Marker
from test_engine_sheets import master_of_sheet

from grader.checks.block import comparison, known_slopes
from grader.engine.carrying import texts_of
from grader.engine.far import carried
from grader.engine.far.decoding import Decoder
from grader.engine.far.encoding import Encoder
from grader.engine.far.values import Owned
from grader.engine.far.wire import pair
from grader.engine.link import Link
from grader.engine.withheld import bodies

FORWARD = "transformer_block.block.transformer_block_forward"
WIDTH = "transformer_block.counting.gated_width"
TRAVELLERS = [
    function
    for module in (comparison, known_slopes)
    for function in vars(module).values()
    if getattr(function, "travels", False)
]


def names_in(texts):
    return [ast.parse(text).body[0].name for _, text in texts]


ROWS = np.linspace(-1, 1, 6).reshape(2, 3)
TENSORS = {"x": ROWS, "W": ROWS.T, "gain": ROWS[0, :2], "matrix": ROWS, "unused": ROWS}
TENSORS |= {"big": ROWS, "small": ROWS[0]}


@pytest.mark.parametrize("function", TRAVELLERS, ids=lambda function: function.__name__)
def test_what_travels_computes_the_same_where_it_has_numpy_alone(function):
    there = carried.define(texts_of(function, frozenset()))
    argument = ROWS if function.__module__ == known_slopes.__name__ else TENSORS
    assert there is not function
    assert there(argument) == function(argument)


def test_a_lent_function_is_called_here_until_it_may_go():
    here, there = pair()
    link, request = Link(here), {"name": WIDTH, "args": [12, 4], "kwargs": {}}
    link.lent = {WIDTH: frozenset({"answer"})}
    link.begin_test(frozenset({"answer"}), write_back=True)
    assert "error" in link._serve("lend", request)
    link.begin_test(frozenset(), write_back=True)
    assert link._serve("lend", request) == {"value": 32}
    link.begin_test(frozenset(), write_back=True, free=frozenset({WIDTH}))
    assert names_in(link._serve("lend", request)["texts"])[-1] == WIDTH.rpartition(".")[2]
    link.close()
    there.close()


def test_a_function_that_is_not_free_stays():
    assert texts_of(master_of_sheet, frozenset()) is None
    assert texts_of(len, frozenset({FORWARD})) is None


def test_the_text_of_a_forward_pass_ends_with_it_and_tells_no_backward_pass():
    names = names_in(bodies(FORWARD))
    assert names[-1] == "transformer_block_forward"
    assert not [name for name in names if "backward" in name]


def test_a_function_arrives_with_its_text_and_comes_back_as_itself():
    here, there = Owned(), Owned()
    here.texts_of = lambda thing: texts_of(thing, frozenset())
    tree = Encoder(here).encode(known_slopes.cubes)
    come = Decoder(
        there, lambda n, facts, v: carried.Carried(n, facts["name"], facts["texts"]), b""
    )
    function = come(tree)
    assert function(np.ones(1)) == 1.0
    assert Decoder(here, None, b"")(Encoder(there).encode(function)) is known_slopes.cubes


def test_what_is_lent_goes_over_when_its_last_test_is_done_in_whatever_order():
    master = master_of_sheet("block")
    graded = [name for name in master.by_name if master.by_name[name].role == "graded"]
    of_forward = {n for n in graded if "transformer_block_forward" in master.judged[n]}
    assert FORWARD in master.lent and of_forward
    assert FORWARD not in master.free_before(graded)
    assert FORWARD in master.free_before(set(graded) - of_forward)
    assert all(FORWARD not in master.free_before([name]) for name in of_forward)


STEAL = """
def transformer_block_forward(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    return STOLEN(x, params, n_heads, rope_base, eps, positions)
def STOLEN(*args):
    raise ValueError("nothing was stolen")
def steal():
    global STOLEN
    from grader.engine.far import lending
    name = "transformer_block.block.transformer_block_forward"
    request = {"args": [], "kwargs": {}, "name": name}
    reply = lending.NOTEBOOK[0].ask("lend", request)
    STOLEN = lending.define(reply["texts"])
"""


@pytest.mark.marking
def test_text_that_came_for_one_answer_earns_nothing_for_another(tmp_path):
    """The tests of the forward pass stand behind those in which its text is asked for."""

    def late(cells, cell):
        cell("transformer_block_forward")["source"] = STEAL
        cell("wrong_gradients")["source"] = "def wrong_gradients(backward):\n    steal()\n"
        moved = [c for c in cells if c["id"].startswith("transformer_block_forward-")]
        cells[:] = [c for c in cells if c not in moved] + moved

    right = json.loads(
        (REPOSITORY / "tests" / "submissions" / "block" / "right.ipynb").read_text("utf-8")
    )
    with Marker("block", tmp_path) as marker:
        points, _, _ = marker.mark(changed(late, right))
    won = {n: p for n, p in points.items() if p and n.startswith("transformer_block_forward-")}
    assert won == {}


@pytest.fixture
def library(monkeypatch):
    """Make a module whose one function is still empty."""
    module = ModuleType("library")
    exec("def answer(*args):\n    raise RuntimeError('not there')", vars(module))
    monkeypatch.setitem(sys.modules, "library", module)
    return module


FULL = [["library", "def answer(x, y=2):\n    return x + y"]]


def test_whoever_holds_the_empty_form_has_the_real_one_then(library):
    held = {"by name": library.answer}
    assert carried.define(FULL)(1) == 3
    assert held["by name"](1) == 3


def test_the_student_s_own_function_of_that_name_is_not_touched(library):
    library.answer = student_s = lambda x: "the student's"
    assert carried.define([*FULL, ["library", "def other(x):\n    return answer(x)"]])(1) == 3
    assert student_s(1) == "the student's"
