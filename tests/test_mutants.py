"""The mutation tool makes the slips that it promises, and leaves alone what computes nothing."""

import ast
import json

import pytest
from checks_report import SCORES, explained, stored
from mutants import mutants

from grader.checks import exercises

SOURCE = '''
def norm(x, weight, eps=1e-5):
    """Divide by the size."""
    from transformer_block._require import require_axes
    require_axes("x", x, "d")
    if eps < 0:
        raise ValueError("eps must not be negative")
    size = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    out, copy = x / size, {}
    out *= weight
    copy["x"], copy["w"] = copy["w"], x.T
    return out, (x, weight, size)
'''


@pytest.fixture(scope="module")
def made():
    return mutants(SOURCE)


@pytest.mark.parametrize(
    "line",
    [
        "size = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) - eps)",  # another operator
        "size = np.sqrt(np.mean(x * x, axis=-1, keepdims=True))",  # a dropped term
        "size = np.mean(x * x, axis=-1, keepdims=True) + eps",  # a dropped call
        "size = np.sqrt(np.sum(x * x, axis=-1, keepdims=True) + eps)",  # another function
        "size = np.sqrt(np.mean(x * x, axis=-2, keepdims=True) + eps)",  # another axis
        "size = np.sqrt(np.mean(x * x, keepdims=True) + eps)",  # a dropped keyword
        "size = np.sqrt(np.mean(x * x, axis=-1, keepdims=False) + eps)",
        "size = np.sqrt(np.mean(x * weight, axis=-1, keepdims=True) + eps)",  # another name
        "out, copy = (size / x, {})",  # the other way round
        "out += weight",
        "pass",
        "copy['x'], copy['w'] = (copy['x'], x.T)",  # another key
        "copy['x'], copy['w'] = (copy['w'], x)",
    ],
)
def test_the_slips_are_made(made, line):
    assert line in {mutant.now for mutant in made}


def test_no_mutant_is_made_twice_or_equal_to_the_function(made):
    texts = [mutant.source for mutant in made]
    assert len(set(texts)) == len(texts)
    assert ast.unparse(ast.parse(SOURCE)) not in texts


def test_docstring_imports_guards_and_the_cache_are_left_alone(made):
    for mutant in made:
        assert '"""Divide by the size."""' in mutant.source
        assert "require_axes('x', x, 'd')" in mutant.source
        assert "if eps < 0:" in mutant.source
        assert "(x, weight, size))" in mutant.source


def test_each_mutant_is_python(made):
    for mutant in made:
        compile(mutant.source, "<mutant>", "exec")


def test_a_note_explains_its_own_survivor_and_no_other():
    was = "K = params['W_q'].shape[1] // n_heads"
    now = "K = params['W_q'].shape[-1] // n_heads"
    assert explained("causal_self_attention_forward", (was, now))
    assert not explained("causal_self_attention_forward", (was, "K = n_heads"))
    assert not explained("rmsnorm_forward", (was, now))


def test_the_stored_figures_are_those_of_every_exercise_and_of_no_other():
    scores = json.loads(SCORES.read_text("utf-8"))
    rows = {name: row for sheet in scores.values() for name, row in sheet.items()}
    assert sorted(rows) == sorted(exercises())
    for name, exercise in exercises().items():
        counts = [rows[name][key] for key in ("claims", "mistakes", "alive")]
        assert counts == [len(exercise.claims), len(exercise.mistakes), 0], name


def test_other_figures_than_the_stored_ones_are_told_and_not_kept():
    before = SCORES.read_text("utf-8")
    assert stored(json.loads(before), keep=False) == []
    (told,) = stored({"rmsnorm": {}}, keep=False)
    assert told.endswith("mutation_scores.json is not up to date; run: make checks-report")
    assert SCORES.read_text("utf-8") == before
