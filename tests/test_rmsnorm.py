"""RMSNorm and LayerNorm against PyTorch's stored values, and what the equations promise."""

import json
from pathlib import Path

import numpy as np
import pytest

from transformer_block.layernorm import layernorm_backward, layernorm_forward
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward

STORED = json.loads((Path(__file__).parent / "data" / "torch_norms.json").read_text())
CASES = [name for name in STORED if name != "torch"]


@pytest.fixture(params=CASES)
def case(request):
    stored = STORED[request.param]
    return {name: np.array(value) if name != "eps" else value for name, value in stored.items()}


def assert_near(got, want):
    """Compare to 1e-12 of the largest entry: float64 leaves about 1e-15 an operation."""
    assert got.shape == want.shape
    assert np.max(np.abs(got - want)) <= 1e-12 * np.max(np.abs(want))


def test_rmsnorm_forward_gives_what_pytorch_gives(case):
    out, _ = rmsnorm_forward(case["x"], case["weight"], case["eps"])
    assert_near(out, case["rms_out"])


def test_rmsnorm_backward_gives_what_pytorch_gives(case):
    _, cache = rmsnorm_forward(case["x"], case["weight"], case["eps"])
    dx, dweight = rmsnorm_backward(case["dout"], cache)
    assert_near(dx, case["rms_dx"])
    assert_near(dweight, case["rms_dweight"])


def test_layernorm_forward_gives_what_pytorch_gives(case):
    out, _ = layernorm_forward(case["x"], case["weight"], case["bias"], case["eps"])
    assert_near(out, case["layer_out"])


def test_layernorm_backward_gives_what_pytorch_gives(case):
    _, cache = layernorm_forward(case["x"], case["weight"], case["bias"], case["eps"])
    dx, dweight, dbias = layernorm_backward(case["dout"], cache)
    assert_near(dx, case["layer_dx"])
    assert_near(dweight, case["layer_dweight"])
    assert_near(dbias, case["layer_dbias"])


def test_the_cache_holds_what_listing_22_2_says():
    x, weight = np.array([[3.0, -4.0]]), np.array([2.0, 5.0])
    out, (kept_x, kept_weight, inv_rms, normalized) = rmsnorm_forward(x, weight, eps=0.0)
    assert kept_x is x
    assert kept_weight is weight
    np.testing.assert_allclose(inv_rms, [[1 / np.sqrt(12.5)]], rtol=1e-15)
    np.testing.assert_allclose(normalized, x / np.sqrt(12.5), rtol=1e-15)
    np.testing.assert_allclose(out, normalized * weight, rtol=1e-15)


def test_a_row_of_zeros_gives_zeros_and_no_warning():
    out, cache = rmsnorm_forward(np.zeros((2, 5)), np.ones(5))
    dx, _ = rmsnorm_backward(np.ones((2, 5)), cache)
    assert not out.any()
    assert np.isfinite(dx).all()


@pytest.mark.parametrize("size", [300.0, 60_000.0])
def test_float16_squares_neither_overflow_nor_leak_their_dtype(size):
    x = np.array([[size, -size, size]], dtype=np.float16)
    out, cache = rmsnorm_forward(x, np.ones(3, dtype=np.float64))
    dx, _ = rmsnorm_backward(100 * np.array([[1, 2, 3]], dtype=np.float16), cache)
    assert out.dtype == dx.dtype == np.float16
    np.testing.assert_allclose(out, [[1.0, -1.0, 1.0]], rtol=1e-3)
    along = 100 * 2 / 3  # mean of dout · out
    np.testing.assert_allclose(size * dx, [[100 - along, 200 + along, 300 - along]], rtol=2e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_dtype_stays_and_nothing_overflows(dtype, scale):
    rng = np.random.default_rng(3)
    x, dout = (scale * rng.normal(size=(2, 3, 7)).astype(dtype) for _ in range(2))
    weight, bias = (rng.normal(size=7).astype(dtype) for _ in range(2))
    rms, rms_cache = rmsnorm_forward(x, weight)
    layer, layer_cache = layernorm_forward(x, weight, bias)
    results = [rms, *rmsnorm_backward(dout, rms_cache), layer]
    results += layernorm_backward(dout, layer_cache)
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert all(np.isfinite(result).all() for result in results)


def test_nothing_writes_into_its_arguments():
    rng = np.random.default_rng(4)
    x, dout, weight, bias = (rng.normal(size=s) for s in ((2, 3, 7), (2, 3, 7), (7,), (7,)))
    for array in (x, dout, weight, bias):
        array.flags.writeable = False  # a write would raise
    for cache, backward in (
        (rmsnorm_forward(x, weight)[1], rmsnorm_backward),
        (layernorm_forward(x, weight, bias)[1], layernorm_backward),
    ):
        for kept in cache:
            kept.flags.writeable = False
        backward(dout, cache)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: rmsnorm_forward(np.ones((2, 3)), np.ones(2)),
            r"weight must have shape \(d,\) = \(3,\), the width of x: got \(2,\)",
        ),
        (
            lambda: rmsnorm_forward(np.ones((2, 3)), np.ones((1, 3))),
            r"weight must have shape \(d,\) = \(3,\), the width of x: got \(1, 3\)",
        ),
        (
            lambda: rmsnorm_forward(np.float64(1.0), np.ones(1)),
            r"x must have shape \(\.\.\., d\) with at least one axis: got a scalar",
        ),
        (
            lambda: rmsnorm_forward(np.ones((2, 3)), np.ones(3), eps=-1e-5),
            r"eps must be zero or more: got -1e-05",
        ),
        (
            lambda: rmsnorm_forward(np.ones((2, 3)), np.ones(3), eps=np.nan),
            r"eps must be zero or more: got nan",
        ),
        (
            lambda: rmsnorm_backward(np.ones(3), rmsnorm_forward(np.ones((2, 3)), np.ones(3))[1]),
            r"dout must have shape \(2, 3\): got \(3,\)",
        ),
        (
            lambda: layernorm_forward(np.ones((2, 3)), np.ones(3), np.ones(4)),
            r"bias must have shape \(d,\) = \(3,\), the width of x: got \(4,\)",
        ),
        (
            lambda: layernorm_backward(
                np.ones((2, 1)), layernorm_forward(np.ones((2, 3)), np.ones(3), np.ones(3))[1]
            ),
            r"dout must have shape \(2, 3\): got \(2, 1\)",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()


def test_layernorm_is_rmsnorm_of_the_centred_row():
    x = np.random.default_rng(5).normal(size=(3, 11)) + 2.0
    centred = x - x.mean(axis=-1, keepdims=True)
    layer, _ = layernorm_forward(x, np.ones(11), np.zeros(11), eps=0.1)
    rms, _ = rmsnorm_forward(centred, np.ones(11), eps=0.1)
    np.testing.assert_allclose(layer, rms, rtol=1e-13)


def test_a_gain_s_gradient_sums_many_tokens_in_float16_without_losing_any():
    x, weight = np.ones((4096, 2), dtype=np.float16), np.ones(2, dtype=np.float16)
    _, cache = rmsnorm_forward(x, weight, eps=0.0)
    _, dweight = rmsnorm_backward(np.ones_like(x), cache)
    assert dweight.tolist() == [4096.0, 4096.0]  # a float16 sum stops growing at 2048
