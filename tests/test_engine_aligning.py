"""A submission beside its master: what counts, what is put back, and what is said about it."""

import json
import re

import pytest

from grader.engine.aligning import align
from grader.engine.composing import compose, inert
from grader.engine.masters import master_of
from grader.engine.reading import Unreadable, read
from grader.engine.roles import GRADED, HAND
from grader.engine.suspicions import suspicions
from grader.engine.withheld import withheld_names, write_library


def cell(name, source, kind="code", **meta):
    marks = {"grade_id": name, "grade": False, "solution": False, "locked": False} | meta
    return {"id": name, "cell_type": kind, "source": source, "metadata": {"nbgrader": marks}}


SETUP = cell("setup", "import numpy as np", locked=True)
ANSWER = cell("f", "def f(x):\n    return 2 * x", solution=True)
TEST = cell("f-value", "# f doubles.\nassert f(3) == 6", grade=True, locked=True, points=4)
HIDDEN = cell(
    "f-more",
    "# f doubles more.\nassert f(4) == 8\n### BEGIN HIDDEN TESTS\nassert f(9) == 18\n"
    "### END HIDDEN TESTS",
    grade=True,
    locked=True,
    points=2,
)
WORDS = cell("why", "Because.", "markdown", grade=True, solution=True, points=3)
SOLVED = {"cells": [SETUP, ANSWER, TEST, HIDDEN, WORDS], "metadata": {}}


def released():
    notebook = json.loads(json.dumps(SOLVED))
    _, answer, _, hidden, words = notebook["cells"]
    answer["source"] = "def f(x):\n    raise NotImplementedError()"
    hidden["source"] = "# f doubles more.\nassert f(4) == 8\n"
    words["source"] = "YOUR ANSWER HERE"
    return notebook


MASTER = master_of(SOLVED, released())


def handed_in(*cells):
    return read(json.dumps({"nbformat": 4, "cells": list(cells)}).encode())


def aligned(*cells):
    placed, notes = align(MASTER, handed_in(*cells))
    names = [one.master.name if one.master else None for one in placed]
    return names, placed, {(note.kind, note.cell) for note in notes}


def mine(source="def f(x):\n    return x + x"):
    return {**ANSWER, "source": source}


REST = [SETUP, mine(), TEST, HIDDEN, WORDS]


def test_the_master_knows_what_each_cell_is_for():
    assert [one.role for one in MASTER.scored] == [GRADED, GRADED, HAND]
    test = MASTER.by_name["f-value"]
    assert test.label == "f doubles."
    assert [one.name for one in MASTER.answers_of(test)] == ["f"]
    assert not test.hides
    assert MASTER.by_name["f-more"].hides
    assert MASTER.asked == {"f"}


def test_an_honest_submission_gets_no_note():
    names, placed, notes = aligned(*REST)
    assert names == ["setup", "f", "f-value", "f-more", "why"]
    assert notes == set()
    assert placed[1].source == mine()["source"]
    assert "f(9)" in placed[3].source


def test_cells_of_the_student_s_own_stay_where_they_are():
    own = {"id": "x", "cell_type": "code", "source": "y = 1", "metadata": {}}
    names, _, notes = aligned(SETUP, own, mine(), TEST, HIDDEN, WORDS)
    assert names == ["setup", None, "f", "f-value", "f-more", "why"]
    assert notes == set()


@pytest.mark.parametrize("missing", range(5))
def test_what_is_missing_is_put_back_behind_its_predecessor(missing):
    kept = [one for number, one in enumerate(REST) if number != missing]
    names, placed, notes = aligned(*kept)
    assert names == ["setup", "f", "f-value", "f-more", "why"]
    assert placed[missing].missing
    assert {name for _, name in notes} == {REST[missing]["id"]}


def test_of_two_answers_the_changed_one_nearest_before_its_test_counts():
    stub = released()["cells"][1]
    for cells, wanted in (
        ([SETUP, stub, mine("f = 1"), TEST, HIDDEN, WORDS], "f = 1"),
        ([SETUP, mine("f = 1"), stub, TEST, HIDDEN, WORDS], "f = 1"),
        ([SETUP, mine("f = 1"), mine("f = 2"), TEST, HIDDEN, WORDS], "f = 2"),
        ([SETUP, mine("f = 1"), TEST, HIDDEN, WORDS, mine("f = 2")], "f = 1"),
        ([SETUP, stub, TEST, HIDDEN, WORDS, mine("f = 2")], "f = 2"),
    ):
        _, placed, notes = aligned(*cells)
        assert [p.source for p in placed if p.master and p.master.name == "f"] == [wanted]
        assert notes == {("duplicate", "f")}
        assert all(p.kind == "raw" for p in placed if p.master is None)


def test_answers_pasted_below_the_whole_sheet_count_and_are_tested_there():
    stub = released()["cells"][1]
    sheet = [SETUP, stub, TEST, HIDDEN, WORDS]
    for cells in ([*sheet, SETUP, mine("f = 1"), TEST, HIDDEN, WORDS], sheet[:2] + sheet):
        names, placed, _ = aligned(*cells)
        chosen = [p.source for p in placed if p.master and p.master.name == "f"]
        assert chosen == ["f = 1" if len(cells) == 10 else stub["source"]]
        assert sorted(filter(None, names)) == ["f", "f-more", "f-value", "setup", "why"]
        assert names.index("f") < min(names.index("f-value"), names.index("f-more"))


def test_of_two_tests_one_is_run():
    names, _, notes = aligned(SETUP, mine(), TEST, TEST, HIDDEN, WORDS)
    assert names.count("f-value") == 1
    assert notes == {("duplicate", "f-value")}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"source": "assert True"}, {"edited test"}),
        ({"cell_type": "markdown"}, {"changed type"}),
        ({"cell_type": "raw", "source": "# " + TEST["source"]}, {"changed type", "edited test"}),
        ({"source": TEST["source"].replace("\n", "\n\n")}, set()),
        ({"source": [line + "\n" for line in TEST["source"].split("\n")]}, set()),
    ],
)
def test_the_master_s_test_is_run_whatever_became_of_it(change, kinds):
    _, placed, notes = aligned(SETUP, mine(), {**TEST, **change}, HIDDEN, WORDS)
    assert (placed[2].source, placed[2].kind) == (TEST["source"], "code")
    assert {kind for kind, _ in notes} == kinds


def test_points_and_locks_of_a_submission_are_not_believed():
    greedy = cell("f-value", TEST["source"], grade=True, points=100)
    _, placed, notes = aligned(SETUP, mine(), greedy, HIDDEN, WORDS)
    assert placed[2].master.points == 4
    assert {kind for kind, _ in notes} == {"changed points", "unlocked"}


def test_cells_are_recognised_where_a_tool_lost_their_metadata():
    bare = [{**one, "metadata": {}} for one in REST]
    names, placed, notes = aligned(*bare)
    assert names == ["setup", "f", "f-value", "f-more", "why"]
    assert placed[1].source == mine()["source"]
    assert {kind for kind, _ in notes} == {"lost metadata"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'{"cells": 3}',
        b'{"cells": []}',
        b'{"cells": [3]}',
        b'{"cells": [{}]}',
        b'{"cells": [{"cell_type": "code", "source": 3, "metadata": {}}]}',
        b'{"cells": [{"cell_type": "x", "source": "", "metadata": {}}]}',
        b'{"cells": [{"cell_type": "code", "source": "", "metadata": 3}]}',
        b'{"nbformat": 5, "cells": [{}]}',
        b'{"nbformat": 3, "worksheets": []}',
        b"\xff\xfe",
        b'{"cells": ' * 100_000,
        b'{"cells": ' + b"9" * 100_000 + b"}",
    ],
)
def test_bytes_that_are_no_notebook_are_told_as_that(data):
    with pytest.raises(Unreadable):
        read(data)


def test_the_autograded_notebook_has_nothing_that_a_browser_would_run():
    evil = '<script>alert(1)</script> <img src=x onerror="x"> a < b $x<y$ <!-- -->'
    words = {**WORDS, "source": evil, "attachments": {"a.svg": {"image/svg+xml": "<svg/>"}}}
    placed, _ = align(MASTER, handed_in(SETUP, mine(), TEST, HIDDEN, words))
    notebook = json.loads(compose(MASTER, placed, {}))
    text = "".join(notebook["cells"][4]["source"])
    assert "<script" not in text
    assert "<img" not in text
    assert "<!--" not in text
    assert "a < b" in text
    assert "attachments" not in notebook["cells"][4]


def test_metadata_of_the_autograded_notebook_come_from_the_master():
    placed, _ = align(MASTER, handed_in(*REST))
    notebook = json.loads(compose(MASTER, placed, {}))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert [one["metadata"]["nbgrader"]["grade_id"] for one in notebook["cells"]] == [
        "setup",
        "f",
        "f-value",
        "f-more",
        "why",
    ]


def test_what_is_asked_for_is_withheld_with_everything_that_uses_it(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "__init__.py").touch()
    (library / "low.py").write_text(
        "def asked(x):\n    return x\n\n\ndef other(x):\n    return x\n"
    )
    (library / "high.py").write_text(
        "from transformer_block.low import asked as hidden_name, other\n\n\n"
        "def uses(x):\n    return inner(x)\n\n\ndef inner(x):\n    import low\n"
        "    return low.asked(x)\n\n\ndef free(x):\n    return other(x)\n\n\nclass Has:\n"
        "    def method(self):\n        return uses\n\n\ndef twin(x):\n    return x\n"
    )
    assert withheld_names({"asked"}, library) == dict.fromkeys(
        ("asked", "inner", "uses", "Has"), "asked"
    ) | {"inner": "asked"}
    write_library(tmp_path / "cut", {"asked"}, {"transformer_block.high.free"}, library)
    text = (tmp_path / "cut" / "low.py").read_text()
    assert "transformer_block.low.asked is not there while this sheet is marked" in text
    assert "def other(x):\n    return x" in text
    text = (tmp_path / "cut" / "high.py").read_text()
    assert "high.twin is not there while this sheet is marked: the sheet does not hand it" in text
    assert "def free(x):\n    return other(x)" in text


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.testing.assert_allclose = None",
        "get_ipython().run_cell = 1",
        "check.__code__ = f.__code__",
        "import gc\ngc.get_objects()",
        "class A:\n    def __eq__(self, other): return True",
        "open('../gradebook.db')",
        "%matplotlib inline\n!ls\nnp.allclose = None",
        "getattr(get_ipython(), 'run_cell_async')",
        "import sys\nsys.modules['grader'] = None",
        "import sys\nsys.meta_path.insert(0, f)",
        "import numpy.testing as t\nsetattr(t, 'assert_allclose', None)",
        "import builtins\ndelattr(builtins, 'AssertionError')",
        "from grader.engine.far.lending import lend",
        "import grader.checks.rmsnorm as answers",
        "class A(type):\n    def __instancecheck__(cls, x): return True",
        "get_ipython().user_ns['f'] = 1",
        "f.__globals__['np'] = None",
    ],
)
def test_code_that_is_meant_for_the_grader_is_named(source):
    (note, *_) = suspicions("f", source)
    assert (note.kind, note.cell) == ("suspicious", "f")


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    y = x.T\n    return y",
        "%%time\nf(1)",
        "x =",
        f"np{'.a' * 900} = 1",
        "import sys\nfrom grader import check\nif 'google.colab' in sys.modules: pass",
        "import os, sys\nos.environ['A'] = 'fork'\nsys.path[0] = '.'\nx[0][1] = 2",
        "import matplotlib.pyplot as plt\nplt.rcParams['figure.dpi'] = 90\nsetattr(x, 'y', 1)",
        "sys = {}\nsys['a'] = 1\nf()[0] = (x or y)[0] = 1",
    ],
)
def test_honest_code_is_not_suspected(source):
    assert suspicions("f", source) == []


LINKS = [
    "[x](javascript:1)",
    "[x](JAVAscript\\:1)",
    "[x](java&#115;cript:1)",
    "[x](javascript&colon;1)",
    "[x](&#x01;vbscript&#58;1)",
    "![x](javascript:1)",
    "[x][a]\n\n[a]: javascript:1",
]


@pytest.mark.parametrize("text", LINKS)
def test_no_address_of_an_autograded_notebook_runs(text):
    """In nbgrader's formgrader, which shows what this renderer makes."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    runs = re.compile(r'(href|src)="[\s\x00-\x20]*(java|vb)script:', re.IGNORECASE)
    assert runs.search(markdown2html_mistune(text))
    assert not runs.search(markdown2html_mistune(inert(text)))


@pytest.mark.parametrize("text", [r"$\href{java" + "\n" + "script:1}{x}$", "a &amp; b", "$a &= b$"])
def test_only_a_text_with_such_an_address_is_changed(text):
    assert (inert(text) != text) == ("script" in text)
