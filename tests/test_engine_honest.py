"""Honest work that is not as expected: right values of other types, hidden state, fixed sizes."""

import pytest
from hostile import FULL, answering, changed
from test_engine_attacks import Marker

pytestmark = pytest.mark.marking


@pytest.fixture(scope="module")
def rmsnorm(tmp_path_factory):
    with Marker("rmsnorm", tmp_path_factory.mktemp("rmsnorm")) as marker:
        yield marker


@pytest.mark.parametrize(
    "value", ["np.float64({})", "np.array({})", "np.array([[{}]])", "[{}]", "np.nextafter({}, 1)"]
)
def test_a_right_value_of_another_type_is_right(rmsnorm, value):
    source = f"def half_rms(eps):\n    return {value.format('np.sqrt(eps / 3)')}"
    assert rmsnorm.mark(answering(source))[0] == FULL


def lost(marker, data, name):
    """Return what is told of the claims on an answer that gave no points."""
    points, record, _ = marker.mark(data)
    assert {key for key, won in points.items() if won != FULL[key]}
    return [c.sentence for c in record.cells if c.name.startswith(name) and c.points == 0]


def test_a_rounded_value_is_told_as_that(rmsnorm):
    source = "def half_rms(eps):\n    return np.float32(np.sqrt(eps / 3))"
    (told,) = lost(rmsnorm, answering(source), "half_rms")
    assert "float32" in told


FIXED = {
    "a size": "def rmsnorm_forward(x, weight, eps=1e-5):\n"
    "    inv_rms = 1 / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) / 4 + eps)\n"
    "    return x * inv_rms * weight, (x, weight, inv_rms)",
    "a global": "def rmsnorm_forward(x, weight, eps=1e-5):\n"
    "    inv_rms = 1 / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) / len(given) + eps)\n"
    "    return x * inv_rms * weight, (x, weight, inv_rms)",
    "a result": "def rmsnorm_forward(x, weight, eps=1e-5):\n"
    "    return np.array([0.6, 0.8, 0.0]), (x, weight, np.array([0.2]))",
}


@pytest.mark.parametrize("what", FIXED)
def test_what_fits_one_input_only_loses_the_claims_of_others(rmsnorm, what):
    def fix(cells, cell):
        cell("rmsnorm_forward")["source"] = f"given = [3.0, 4.0, 0.0, 1.0]\n{FIXED[what]}"

    told = lost(rmsnorm, changed(fix), "rmsnorm_forward")
    assert all(told)
    asked = "Is a size of that example written into your function?"
    assert any(asked in sentence for sentence in told) == (what != "a result")


def test_what_a_deleted_cell_had_defined_is_named(rmsnorm):
    source = "def half_rms(eps):\n    return W * eps"
    (told,) = lost(rmsnorm, answering(source), "half_rms")
    assert told == "half_rms raised NameError.\n  line 2, in half_rms: return W * eps"
    (told,) = lost(rmsnorm, answering(f"W + 1\n{source}"), "half_rms")
    assert told.endswith("its cell raised NameError: name 'W' is not defined.")
