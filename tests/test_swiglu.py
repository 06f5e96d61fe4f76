"""SwiGLU and the classic GELU net against PyTorch's values, and what the equations promise."""

import math

import numpy as np
import pytest
from block_cases import (
    CASES,
    LEADING,
    SWIGLU,
    assert_gives,
    errors_against_differences,
    only,
    random_block,
    read_only,
    torch_case,
)

from transformer_block.gelu import gelu, gelu_derivative, gelu_net_backward, gelu_net_forward
from transformer_block.gradcheck import numerical_gradient, relative_error
from transformer_block.swiglu import silu, silu_derivative, swiglu_backward, swiglu_forward

NETS = {
    "swiglu": (swiglu_forward, swiglu_backward, SWIGLU),
    "gelu_net": (gelu_net_forward, gelu_net_backward, ("W_1", "W_2")),
}
ACTIVATIONS = {"silu": (silu, silu_derivative), "gelu": (gelu, gelu_derivative)}


@pytest.fixture(params=CASES)
def case(request):
    return torch_case(request.param)


@pytest.mark.parametrize("net", NETS)
def test_the_net_gives_what_pytorch_gives(case, net):
    forward, backward, _ = NETS[net]
    out, cache = forward(case.x, case.params)
    assert_gives(case.values[net], out, *backward(case.dout, cache))


@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("net", NETS)
def test_every_gradient_of_the_net_agrees_with_differences(net, leading):
    forward, backward, names = NETS[net]
    x, dout, params = random_block(leading, T=3, d=5, h=3, K=2)
    errors = errors_against_differences(forward, backward, x, dout, only(params, *names))
    assert max(errors.values()) < 1e-6, errors


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_slope_of_the_activation_agrees_with_differences(name):
    activation, slope = ACTIVATIONS[name]
    x = np.linspace(-9.0, 9.0, 37)
    found = numerical_gradient(lambda t: float(np.sum(activation(t))), x)
    assert relative_error(slope(x), found) < 1e-9


def test_silu_is_x_times_the_logistic_function():
    for x in (-30.0, -1.2785, -1e-3, 0.0, 0.7, 30.0):
        assert silu(np.array([x]))[0] == pytest.approx(x / (1 + math.exp(-x)), rel=1e-15)
    assert silu(np.linspace(-3, 0, 30_001)).min() == pytest.approx(-0.2784645, abs=1e-7)


def test_gelu_is_within_half_a_thousandth_of_the_normal_distribution_s():
    x = np.linspace(-6.0, 6.0, 1001)
    proper = np.array([t * 0.5 * math.erfc(-t / math.sqrt(2)) for t in x])
    gap = np.max(np.abs(gelu(x) - proper))
    assert 1e-4 < gap < 5e-4


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_out_the_activation_is_zero_or_x_and_nothing_overflows(name, dtype):
    activation, slope = ACTIVATIONS[name]
    far = np.array([-1e4, -1000.0, 1000.0, 1e4], dtype=dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        values, slopes = activation(far), slope(far)
    assert values.dtype == slopes.dtype == dtype
    assert values.tolist() == [0.0, 0.0, 1000.0, 1e4]
    assert slopes.tolist() == [0.0, 0.0, 1.0, 1.0]


def test_the_net_is_three_loops_over_tokens_and_features():
    x, _, params = random_block((), T=3)
    out, (_, _, gate, up, hidden) = swiglu_forward(x, params)
    for t in range(3):
        for j in range(11):
            g = sum(x[t, i] * params["W_gate"][i, j] for i in range(7))
            u = sum(x[t, i] * params["W_up"][i, j] for i in range(7))
            assert gate[t, j] == pytest.approx(g)
            assert up[t, j] == pytest.approx(u)
            assert hidden[t, j] == pytest.approx(g / (1 + math.exp(-g)) * u)
        for i in range(7):
            down = sum(hidden[t, j] * params["W_down"][j, i] for j in range(11))
            assert out[t, i] == pytest.approx(down)


def test_the_cache_holds_what_listing_22_3_says():
    x, _, params = random_block()
    out, (kept_x, kept_params, gate, up, hidden) = swiglu_forward(x, params)
    assert kept_x is x
    assert kept_params is params
    np.testing.assert_array_equal(gate, x @ params["W_gate"])
    np.testing.assert_array_equal(up, x @ params["W_up"])
    np.testing.assert_array_equal(hidden, silu(gate) * up)
    np.testing.assert_array_equal(out, hidden @ params["W_down"])


def test_each_token_is_treated_by_itself():
    x, _, params = random_block(T=5)
    changed = x.copy()
    changed[:, 2] = 1e3
    before, after = swiglu_forward(x, params)[0], swiglu_forward(changed, params)[0]
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(after[:, others], before[:, others], rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("net", NETS)
def test_the_dtype_stays_nothing_overflows_and_nothing_is_written(net, scale, dtype):
    forward, backward, names = NETS[net]
    x, dout, params = random_block(dtype=dtype)
    x, params = scale * x, only(params, *names)
    read_only(x, dout, params)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        out, cache = forward(x, params)
        read_only(cache)
        dx, grads = backward(dout, cache)
    results = [out, dx, *grads.values()]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert all(np.isfinite(result).all() for result in results)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x, dout, p: swiglu_forward(x, {**p, "W_up": np.ones((7, 10))}),
            r"W_up must have shape \(d, h\) = \(7, 11\): got \(7, 10\)",
        ),
        (
            lambda x, dout, p: swiglu_forward(x, {**p, "W_down": p["W_up"]}),
            r"W_down must have shape \(h, d\) = \(11, 7\): got \(7, 11\)",
        ),
        (
            lambda x, dout, p: swiglu_forward(x, {**p, "W_gate": np.ones(7)}),
            r"W_gate must have shape \(d, h\) = \(7, h\): got \(7,\)",
        ),
        (
            lambda x, dout, p: swiglu_forward(x[..., :5], p),
            r"W_gate must have shape \(d, h\) = \(5, 11\): got \(7, 11\)",
        ),
        (
            lambda x, dout, p: swiglu_forward(x, only(p, "W_1", "W_2")),
            r"params must hold W_gate, W_up, W_down: W_gate is missing",
        ),
        (
            lambda x, dout, p: gelu_net_forward(x, only(p, "W_1")),
            r"params must hold W_1, W_2: W_2 is missing",
        ),
        (
            lambda x, dout, p: swiglu_forward(np.float64(1.0), p),
            r"x must have shape \(\.\.\., d\): got \(\)",
        ),
        (
            lambda x, dout, p: swiglu_backward(dout[0], swiglu_forward(x, p)[1]),
            r"dout must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
        (
            lambda x, dout, p: gelu_net_backward(dout[0], gelu_net_forward(x, p)[1]),
            r"dout must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call(*random_block())
