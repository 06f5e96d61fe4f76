"""What goes wrong stays where it is: a test that hangs, a master that is wrong, a tale of a lie."""

import json

import pytest

from grader.checks import CheckFailed
from grader.checks.engine.calling import Unusable
from grader.checks.engine.calling import _unusable as tell_error
from grader.course import Course
from grader.engine.telling import Written, error_from
from grader.errors import UserError
from grader.grading import Way, mark_all
from grader.records import CRASHED, GRADED, PASSED, TIMED_OUT

pytestmark = pytest.mark.marking

HANGS = """\
import signal
signal.setitimer(signal.ITIMER_REAL, 0)
while True:
    pass
"""
WAY = Way(workers=1, seconds=1.0)


def cell(name, source, points=None, answer=False):
    meta = {"grade_id": name, "schema_version": 3, "locked": not answer, "solution": answer}
    meta |= {"grade": points is not None, "task": False}
    meta |= {} if points is None else {"points": points}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"nbgrader": meta},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def course_of(folder, tests, reference="def one():\n    return 1", answers=("return 1",)):
    """Make a course whose one sheet asks for `one`, and has these tests."""
    cells = [cell("one", reference, answer=True)]
    cells += [cell(name, source, points=2) for name, source in tests.items()]
    written = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    source = folder / "source" / "ps" / "ps.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps(written), "utf-8")
    for number, answer in enumerate(answers):
        cells[0]["source"] = f"def one():\n    {answer}"
        path = folder / "submitted" / f"s{number}" / "ps" / "ps.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(written), "utf-8")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n", "utf-8")
    return Course.open(folder)


ONLY_FOR_TWO = "if one() == 2:\n{}\nassert one() in (1, 2)"


def for_two(source):
    """Return a test that does this where the answer is 2, and passes where it is 1."""
    return ONLY_FOR_TWO.format("\n".join(f"    {line}" for line in source.splitlines()))


@pytest.mark.parametrize(
    "source, outcome",
    [
        (HANGS, TIMED_OUT),
        ("import os\nos._exit(7)", CRASHED),
        ("import ctypes\nctypes.string_at(0)", CRASHED),
    ],
    ids=["hangs", "exits", "segfaults"],
)
def test_a_test_that_ends_or_hangs_the_marking_process_costs_itself(tmp_path, source, outcome):
    tests = {"before": "assert one() > 0", "bad": for_two(source), "after": "assert one() < 3"}
    course = course_of(tmp_path, tests, answers=("return 1", "return 2", "return 1"))
    records = mark_all(course, "ps", way=WAY).records
    assert [record.status for record in records] == [GRADED] * 3
    outcomes = [[one.outcome for one in record.cells] for record in records]
    assert outcomes == [[PASSED] * 3, [PASSED, outcome, PASSED], [PASSED] * 3]
    assert [sum(one.points for one in record.cells) for record in records] == [6, 4, 6]
    assert [note.cell for note in records[1].notes] == ["bad"]


@pytest.mark.parametrize("test", ["assert one() == 1", "float('nan')"])
def test_a_master_whose_own_answer_fails_marks_nobody(tmp_path, test):
    reference = "def one():\n    return 3"
    course = course_of(tmp_path, {"value": test}, reference)
    with pytest.raises(UserError, match=r"ps cannot be marked by its own tests: .*value.*nobody"):
        mark_all(course, "ps", way=WAY)
    assert not (tmp_path / "records" / "ps" / "s0.json").exists()


def test_a_master_that_is_mended_marks_everybody(tmp_path):
    course = course_of(tmp_path, {"value": "assert one() == 1"})
    assert [record.status for record in mark_all(course, "ps", way=WAY).records] == [GRADED]


CELL = "class Odd(Exception):\n    pass\ndef f(x):\n    raise Odd(x)\n"


def raised(kind, frames, bases=("ValueError",), text="x is 17.25"):
    written = Written()
    written.add(CELL)
    told = {"type": kind, "bases": list(bases), "text": text, "frames": frames}
    return error_from(told, written)


def test_an_exception_and_the_lines_that_led_to_it_keep_their_names():
    error = raised("Odd", [[4, "f", "raise Odd(x)"]])
    assert type(error).__name__ == "Odd"
    assert [(f.lineno, f.name, f.line) for f in error.student_frames] == [(4, "f", "raise Odd(x)")]
    assert type(raised("ZeroDivisionError", [], ["ZeroDivisionError"])) is ZeroDivisionError


@pytest.mark.parametrize(
    "kind, frame",
    [
        ("x_is_17_25", [4, "f", "raise Odd(x)"]),
        ("Odd", [4, "f", "x is 17_25"]),
        ("Odd", [1725, "f", "raise Odd(x)"]),
        ("Odd", [4, "x_is_17_25", "raise Odd(x)"]),
    ],
)
def test_names_and_lines_that_nobody_wrote_are_left_out(kind, frame):
    error = raised(kind, [frame])
    unusable = tell_error("f", error, {})
    failure = CheckFailed("f", "value", str(unusable), seed=1, public=unusable.public)
    assert not {"17", "1725"} & set(
        "".join(c if c.isdigit() else " " for c in failure.public).split()
    )


def test_a_learner_reads_the_text_of_an_error_and_a_page_does_not_have_it():
    unusable = tell_error("f", raised("Odd", [[4, "f", "raise Odd(x)"]]), {"x": 17.25})
    assert isinstance(unusable, Unusable)
    assert "x is 17.25" in str(unusable)
    assert unusable.public == "f raised Odd.\n  line 4, in f: raise Odd(x)"
