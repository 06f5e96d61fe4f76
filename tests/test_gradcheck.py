"""Finite differences against derivatives known in closed form, and the check against faults."""

import numpy as np
import pytest

from transformer_block.gradcheck import gradient_check, numerical_gradient, relative_error
from transformer_block.layernorm import layernorm_backward, layernorm_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward


def test_the_gradient_of_sines_is_cosines():
    x = np.random.default_rng(0).normal(size=(2, 3, 5))
    found = numerical_gradient(lambda t: float(np.sum(np.sin(t))), x)
    assert relative_error(found, np.cos(x)) < 1e-10


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 1e6])
def test_the_step_grows_with_large_entries_and_has_a_floor_at_zero(size):
    found = numerical_gradient(lambda t: float(np.sum(t**3)), np.array([size]))
    assert abs(found[0] - 3 * size**2) <= 1e-9 * max(1.0, 3 * size**2)


def test_an_integer_array_is_not_cut_off():
    found = numerical_gradient(lambda t: float(np.sum(t**2)), np.array([1, 2, 3]))
    np.testing.assert_allclose(found, [2.0, 4.0, 6.0], rtol=1e-9)


def test_the_point_is_left_untouched_even_by_a_function_that_writes():
    x = np.array([1.0, 2.0])

    def writes(t):
        value = float(np.sum(t**2))
        t[:] = 0.0
        return value

    np.testing.assert_allclose(numerical_gradient(writes, x), [2.0, 4.0], rtol=1e-9)
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("factor", "error"), [(1.0, 0.0), (2.0, 1 / 3), (39.5, 38.5 / 40.5), (-1.0, 1.0)]
)
def test_a_factor_c_shows_as_c_minus_one_over_c_plus_one(factor, error):
    gradient = np.array([0.3, -2.0, 0.7])
    assert relative_error(factor * gradient, gradient) == pytest.approx(error, abs=1e-15)


def test_two_zero_gradients_agree():
    assert relative_error(np.zeros(3), np.zeros(3)) == 0.0


def norm_tensors():
    rng = np.random.default_rng(1)
    return {
        "x": rng.normal(size=(2, 3, 5)),
        "weight": rng.normal(size=5),
        "bias": rng.normal(size=5),
        "dout": rng.normal(size=(2, 3, 5)),
    }


def test_rmsnorm_backward_passes_its_gradient_check():
    t = norm_tensors()
    _, cache = rmsnorm_forward(t["x"], t["weight"], 0.1)
    dx, dweight = rmsnorm_backward(t["dout"], cache)
    errors = gradient_check(
        lambda p: float(np.sum(t["dout"] * rmsnorm_forward(p["x"], p["weight"], 0.1)[0])),
        {"x": t["x"], "weight": t["weight"]},
        {"x": dx, "weight": dweight},
    )
    assert max(errors.values()) < 1e-9, errors


def test_layernorm_backward_passes_its_gradient_check():
    t = norm_tensors()
    names = ("x", "weight", "bias")
    _, cache = layernorm_forward(*(t[name] for name in names), 0.1)
    gradients = dict(zip(names, layernorm_backward(t["dout"], cache), strict=True))
    errors = gradient_check(
        lambda p: float(
            np.sum(t["dout"] * layernorm_forward(p["x"], p["weight"], p["bias"], 0.1)[0])
        ),
        {name: t[name] for name in names},
        gradients,
    )
    assert max(errors.values()) < 1e-9, errors


def test_a_fault_in_a_small_tensor_is_not_hidden_by_a_large_one():
    big, small = np.ones((40, 40)), np.array([1e-3])
    errors = gradient_check(
        lambda p: float(np.sum(p["big"] ** 2) + p["small"][0]),
        {"big": big, "small": small},
        {"big": 2 * big, "small": np.array([2.0])},
    )
    assert errors["big"] < 1e-7  # the loss is 1600, so round-off is 1600 times that of one entry
    assert errors["small"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: numerical_gradient(np.sum, np.ones(2), step=0.0),
            r"step must be positive: got 0\.0",
        ),
        (
            lambda: numerical_gradient(lambda t: t, np.ones(2)),
            r"f must return one number: got an array of shape \(2,\)",
        ),
        (
            lambda: relative_error(np.ones(2), np.ones(3)),
            r"both gradients must have one shape: got \(2,\) and \(3,\)",
        ),
        (
            lambda: gradient_check(lambda p: 0.0, {"x": np.ones(1)}, {"y": np.ones(1)}),
            r"gradients must have the names \['x'\]: got \['y'\]",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
