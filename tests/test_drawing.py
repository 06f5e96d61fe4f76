"""Cases that are drawn once and kept: the same ones as when drawn anew, and nobody changes them."""

import copy
import pickle

import numpy as np
import pytest

from grader.checks import exercises, find_exercise
from grader.checks.engine import drawing, judging
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name

SEED = 20


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """Begin with nothing drawn."""
    monkeypatch.setattr(drawing, "_kept", {})
    monkeypatch.setattr(drawing, "_fresh", [])


def arrays_of(value):
    """Return the arrays in nested inputs, and what a callable among them keeps."""
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays_of(item)]
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_of(item)]
    if isinstance(value, np.ndarray):
        return [value]
    return arrays_of(vars(value)) if callable(value) and hasattr(value, "__dict__") else []


def written(cases):
    """Return the bytes of all inputs of cases."""
    return pickle.dumps([arrays_of(dict(case.inputs)) for case in cases])


@pytest.mark.parametrize("name", exercises())
def test_judging_a_mistake_changes_no_case_that_is_kept(name):
    exercise = find_exercise(name)
    for claim in exercise.claims.values():
        first = drawing.first_cases(exercise, claim, SEED)
        before = written(first)
        assert before == written(list(claim.drawn(SEED)))
        for case in first:
            judging.judge(exercise, claim, _spoiler(case), {}, SEED)
        assert written(first) == before


def _spoiler(case):
    """Return an answer that overwrites every array that it is given."""

    def answer(*arguments):
        for array in arrays_of(copy.copy(arguments)):
            if array.flags.writeable:
                array[...] = 0
        return np.zeros(3)

    return answer


@pytest.mark.parametrize("name", ["rmsnorm_forward", "swiglu_forward", "transformer_block_forward"])
def test_other_cases_are_those_of_all_the_draws_that_are_least_like_the_first(name):
    exercise = find_exercise(name)
    for claim in exercise.claims.values():
        first = list(claim.drawn(SEED))
        draws = [list(claim.cases(np.random.default_rng([SEED, d]))) for d in range(drawing.DRAWS)]
        draws.sort(key=lambda cases: sum(map(drawing._alike, first, cases)))
        best = [case for cases in draws[: drawing.REDRAWS] for case in cases]
        assert written(drawing.other_cases(exercise, claim, SEED)) == written(best)


def counting_exercise():
    """Return an exercise that counts how often it draws."""
    drawn = []

    def cases(rng):
        drawn.append(1)
        yield Case({"x": rng.normal(size=3)}, "three numbers")

    claim = Claim("is", "It is x.", cases, ("y",))
    return Exercise("same", ("y",), lambda x: {"y": x}, by_name(claim)), drawn


def test_what_a_fork_has_drawn_is_drawn_once_more_and_no_more():
    exercise, drawn = counting_exercise()
    claim = exercise.claim("is")
    assert judging.judge(exercise, claim, lambda x: x, {}, SEED) is None
    keys = pickle.loads(pickle.dumps(drawing.take_fresh()))
    assert len(drawn) == 1 and drawing.take_fresh() == ()
    drawing._kept.clear()
    drawing.draw_again(keys, {"same": exercise}.get)
    (case,) = drawing.first_cases(exercise, claim, SEED)
    assert len(drawn) == 2 and drawing.take_fresh() == ()
    assert np.array_equal(vars(case)["wanted"]["y"], case.inputs["x"])


def test_another_claim_of_the_same_name_is_drawn_anew():
    (one, _), (other, drawn) = counting_exercise(), counting_exercise()
    first = drawing.first_cases(one, one.claim("is"), SEED)
    assert drawing.first_cases(other, other.claim("is"), SEED) is not first and drawn


def test_only_so_many_draws_are_kept():
    exercise, _ = counting_exercise()
    for seed in range(drawing.MOST_KEPT + 5):
        drawing.first_cases(exercise, exercise.claim("is"), seed)
    assert len(drawing._kept) == drawing.MOST_KEPT
