"""The fast block against the listing: the same numbers, the same caches, less memory traffic."""

import tracemalloc

import numpy as np
import pytest
from block_cases import (
    ATTENTION,
    LEADING,
    NORMS,
    SWIGLU,
    assert_gives,
    only,
    random_block,
    read_only,
    torch_case,
)

from transformer_block import _memory, _threads
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.fast import fast_block_backward, fast_block_forward

LLAMA = (*ATTENTION, *SWIGLU, *NORMS)


@pytest.fixture(params=["one thread", "two threads"], autouse=True)
def threads(request, monkeypatch):
    n = 1 if request.param == "one thread" else 2
    monkeypatch.setattr(_threads, "_worth", lambda least, entries: min(n, least))


def assert_same(got, want, tolerance=1e-12):
    """Compare nested tuples of arrays to 1e-12 of the largest entry: float64 in another order."""
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            assert_same(one, other, tolerance)
    elif isinstance(want, np.ndarray):
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        assert np.max(np.abs(got - want)) <= tolerance * np.max(np.abs(want))
    elif isinstance(want, dict):
        assert set(got) == set(want)
        assert_same(tuple(got[name] for name in want), tuple(want.values()), tolerance)
    else:
        assert got == want


@pytest.mark.parametrize("case", ["plain", "grouped", "later"])
def test_the_fast_block_gives_what_pytorch_gives(case):
    case = torch_case(case)
    params = only(case.params, *LLAMA)
    out, cache = fast_block_forward(case.x, params, *case.heads, case.eps, case.positions)
    assert_gives(case.values["block"], out, *fast_block_backward(case.dout, cache))


@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("T", [1, 5, 64, 150])  # within a block of queries, one block, several
@pytest.mark.parametrize("H_kv", [1, 2, 4])
def test_outputs_caches_and_gradients_are_those_of_the_listing(leading, T, H_kv):
    x, dout, params = random_block(leading, T=T, H_kv=H_kv)
    params = only(params, *LLAMA)
    out, cache = fast_block_forward(x, params, 4)
    want_out, want_cache = transformer_block_forward(x, params, 4)
    assert_same(out, want_out)
    assert_same(cache, want_cache)
    want = transformer_block_backward(dout, want_cache)
    assert_same(fast_block_backward(dout, cache), want)
    assert_same(fast_block_backward(dout, want_cache), want)
    assert_same(transformer_block_backward(dout, cache), want)


def test_arrays_in_another_order_of_memory_give_the_same():
    x, dout, params = random_block((2, 3))
    params = only(params, *LLAMA)
    want, cache = fast_block_forward(x, params, 4)
    turned = {name: np.asfortranarray(weight) for name, weight in params.items()}
    out, turned_cache = fast_block_forward(np.asfortranarray(x), turned, 4)
    assert_same(out, want)
    assert_same(
        fast_block_backward(np.asfortranarray(dout), turned_cache),
        fast_block_backward(dout, cache),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_dtype_stays_nothing_overflows_and_nothing_is_written(scale, dtype):
    x, dout, params = random_block(T=70, dtype=dtype)
    x, params = scale * x, only(params, *LLAMA)
    read_only(x, dout, params)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        out, cache = fast_block_forward(x, params, 4)
        read_only(cache)
        dx, grads = fast_block_backward(dout, cache)
    results = [out, dx, *grads.values()]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert all(np.isfinite(result).all() for result in results)


def test_the_past_does_not_move_when_the_future_is_disturbed():
    x, _, params = random_block(T=130)
    params = only(params, *LLAMA)
    before, _ = fast_block_forward(x, params, 4)
    disturbed = x.copy()
    disturbed[:, 100:] = 1e12
    after, _ = fast_block_forward(disturbed, params, 4)
    np.testing.assert_array_equal(after[:, :100], before[:, :100])


def test_no_score_is_so_low_that_the_future_shows():
    x, _, params = random_block(T=70, H_kv=4)
    params = only(params, *LLAMA)
    params["W_q"] = -1e4 * params["W_k"]  # the nearer two tokens, the lower their score
    weights = fast_block_forward(x, params, 4)[1][1][3][3]
    assert (weights[..., 0, 0] == 1.0).all()
    assert not weights[..., ~np.tri(70, dtype=bool)].any()


def test_the_output_does_not_keep_the_caches_alive():
    x, dout, params = random_block()
    out, cache = fast_block_forward(x, params, 4)
    assert out.base is None
    assert not np.shares_memory(out, cache[2])


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        (fast_block_forward, fast_block_backward),
        (transformer_block_forward, transformer_block_backward),
    ],
)
def test_the_peak_of_the_backward_pass_stays_within_twice_what_the_caches_hold(forward, backward):
    x, dout, params = random_block((2,), T=256, d=256, h=704, H=4, H_kv=4, K=64, dtype=np.float32)
    _memory.PIECES.pieces.clear()  # what earlier calls left would not be counted
    tracemalloc.start()
    _, cache = forward(x, params, 4)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    backward(dout, cache)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2 * held


def test_an_error_in_any_thread_is_raised():
    def work(share):
        if share(7).stop == 7:  # the last share: that of the second thread, where there is one
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _threads.at_once(work, 7, 1 << 60)


def test_weights_of_another_dtype_are_told():
    x, _, params = random_block(dtype=np.float32)
    params["W_up"] = params["W_up"].astype(np.float64)
    with pytest.raises(ValueError, match=r"^W_up must have the dtype of x, float32: got float64$"):
        fast_block_forward(x, params, 4)


def test_a_gradient_of_another_shape_is_told():
    x, dout, params = random_block()
    _, cache = fast_block_forward(x, params, 4)
    with pytest.raises(ValueError, match=r"^dout must have shape \(2, 5, 7\): got \(5, 7\)$"):
        fast_block_backward(dout[0], cache)


def test_memory_is_used_again_only_when_nobody_holds_an_array_of_it():
    pieces = _memory.Pieces()
    first = pieces.take(1000, np.float64)
    start = first.ctypes.data
    view = first[10:20].reshape(2, 5)
    del first
    other = pieces.take(1000, np.float64)
    assert other.ctypes.data != start, "a view of it is alive"
    del view
    assert pieces.take(1000, np.float64).ctypes.data == start
    assert pieces.take(1000, np.float32).ctypes.data != start


def test_no_more_pieces_are_kept_than_said():
    pieces = _memory.Pieces()
    held = [pieces.take(100 + n, np.float64) for n in range(9)]
    assert len(pieces.pieces) == _memory.KEPT
    assert not any(np.shares_memory(a, b) for a in held for b in held if a is not b)


def test_results_of_one_call_are_not_touched_by_the_next():
    x, dout, params = random_block()
    params = only(params, *LLAMA)
    out, cache = fast_block_forward(x, params, 4)
    dx, grads = fast_block_backward(dout, cache)
    results = (out, cache[2], *cache[0], cache[1][3][3], dx, *grads.values())
    before = [array.copy() for array in results]
    for _ in range(3):
        _, again = fast_block_forward(2 * x, params, 4)
        fast_block_backward(dout, again)
    assert all(np.array_equal(a, b) for a, b in zip(before, results, strict=True))
