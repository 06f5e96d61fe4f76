"""What the last value of a test means in points, and what a failure may tell of a hidden test."""

import math

import numpy as np
import pytest
from test_engine_aligning import MASTER

from grader.checks import CheckFailed
from grader.engine import testing
from grader.engine.testing import Missing, execute
from grader.records import PASSED, WRONG

OPEN, HIDDEN = MASTER.by_name["f-value"], MASTER.by_name["f-more"]  # 4 points, 2 points


def share(value):
    verdict = testing._verdict_of(value, OPEN)
    assert (verdict.outcome == PASSED) == (verdict.share == 1)
    return verdict.share, bool(verdict.author_error)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, (1, False)),
        (4, (1, False)),
        (1, (0.25, False)),
        (0, (0, False)),
        (0.5, (0.125, False)),
        (True, (1, False)),
        (False, (0, False)),
        (np.float64(0.0), (0, False)),
        (np.float64(2.0), (0.5, False)),
        (np.float32(1.0), (0.25, False)),
        (np.int64(4), (1, False)),
        (np.bool_(False), (0, False)),
        (np.array(2.0), (0.5, False)),
        (math.nan, (0, True)),
        (np.float64("nan"), (0, True)),
        (math.inf, (0, True)),
        (-1, (0, True)),
        (5, (0, True)),
        ((1, 2), (0, True)),
        ([1], (0, True)),
        (np.ones(2), (0, True)),
        (1 + 2j, (0, True)),
    ],
)
def test_a_last_value_is_the_number_that_it_means_or_an_error_of_the_author(value, wanted):
    assert share(value) == wanted


def test_the_value_of_a_last_expression_is_returned_and_nothing_else():
    assert execute("x = 3\nx + 1", {}) == 4
    assert execute("x = 3", {}) is None
    assert execute("", {}) is None


def told(error, cell):
    return testing._tell(error, cell)


def test_a_hidden_test_tells_nothing_of_its_values():
    secret = "Not equal to tolerance: ACTUAL 17.25 DESIRED 18"
    assert told(AssertionError(secret), HIDDEN) == "A hidden test fails."
    assert told(AssertionError(), HIDDEN) == "A hidden test fails."
    assert "17.25" in told(AssertionError(secret), OPEN)
    error = ValueError("x was 17.25")
    error.student_frames = []
    assert "17.25" not in told(error, HIDDEN)


def test_a_check_tells_its_question_and_not_its_evidence():
    failure = CheckFailed("f", "value", "Where is the root?", seed=3, evidence=["f[0] should be 7"])
    assert told(failure, OPEN) == "Where is the root?"


class NoNotebook:
    def fetch(self, name):
        return False, None


def test_an_answer_that_is_not_there_is_told_with_the_reason():
    tester = testing.Tester(MASTER, None)
    tester.broken["f"] = "its cell raised SyntaxError: invalid syntax, line 3"
    with pytest.raises(Missing, match="There is no f in the notebook: its cell raised SyntaxError"):
        tester._fetch({"f"}, NoNotebook(), OPEN)


def test_only_what_the_master_s_answers_define_is_fetched():
    assert MASTER.plans[OPEN.name] == ((OPEN, ("f",)),)
    assert testing._verdict_of(3, OPEN).outcome == WRONG
