"""Causal attention against PyTorch's values and a slow loop, and what the mask promises."""

import math

import numpy as np
import pytest
from block_cases import (
    ATTENTION,
    CASES,
    LEADING,
    assert_gives,
    errors_against_differences,
    only,
    random_block,
    read_only,
    torch_case,
)

from transformer_block.attention import (
    causal_attention_backward,
    causal_attention_forward,
    causal_mask,
    causal_self_attention_backward,
    causal_self_attention_forward,
)
from transformer_block.gradcheck import numerical_gradient, relative_error
from transformer_block.heads import merge_heads, repeat_heads, repeat_heads_backward, split_heads
from transformer_block.rope import rope_forward
from transformer_block.softmax import softmax, softmax_backward
from transformer_block.step import causal_self_attention_step


@pytest.fixture(params=CASES)
def case(request):
    return torch_case(request.param)


def forward(x, params, n_heads=4):
    return causal_self_attention_forward(x, params, n_heads, rope_base=100.0)


def test_attention_gives_what_pytorch_gives(case):
    out, cache = causal_self_attention_forward(case.x, case.params, *case.heads, case.positions)
    assert_gives(case.values["attention"], out, *causal_self_attention_backward(case.dout, cache))


@pytest.mark.parametrize("leading", LEADING)
def test_every_gradient_agrees_with_differences(leading):
    x, dout, params = random_block(leading, T=3, d=5, h=3, K=2)
    errors = errors_against_differences(
        forward, causal_self_attention_backward, x, dout, only(params, *ATTENTION)
    )
    assert max(errors.values()) < 1e-6, errors


def attend_by_loops(x, params, n_heads, rope_base):
    """Attend for one sequence, head by head and token by token, over the seen tokens only."""
    T, K = len(x), params["W_q"].shape[1] // n_heads
    group = params["W_q"].shape[1] // params["W_k"].shape[1]
    out = np.zeros_like(x)
    for head in range(n_heads):
        mine = slice(head * K, (head + 1) * K)
        shared = slice(head // group * K, (head // group + 1) * K)
        q, _ = rope_forward(x @ params["W_q"][:, mine], rope_base=rope_base)
        k, _ = rope_forward(x @ params["W_k"][:, shared], rope_base=rope_base)
        v = x @ params["W_v"][:, shared]
        for t in range(T):
            scores = [math.exp(q[t] @ k[s] / math.sqrt(K)) for s in range(t + 1)]
            mixed = sum(score * v[s] for s, score in enumerate(scores)) / sum(scores)
            out[t] += mixed @ params["W_o"][mine]
    return out


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_attention_is_a_loop_over_heads_and_seen_tokens(n_kv_heads):
    x, _, params = random_block((3,), H_kv=n_kv_heads)
    out, _ = forward(x, params)
    for sequence, got in zip(x, out, strict=True):
        np.testing.assert_allclose(
            got, attend_by_loops(sequence, params, 4, 100.0), rtol=1e-12, atol=1e-13
        )


@pytest.mark.parametrize("value", [1e12, -1e12])
def test_the_past_does_not_move_when_the_future_is_disturbed(value):
    x, _, params = random_block(T=7)
    before, _ = forward(x, params)
    disturbed = x.copy()
    disturbed[:, 4:] = value
    after, _ = forward(disturbed, params)
    np.testing.assert_array_equal(after[:, :4], before[:, :4])
    assert not np.allclose(after[:, 4:], before[:, 4:])


def test_no_score_is_so_low_that_the_future_shows():
    x, _, params = random_block(H_kv=4)
    params["W_q"] = -1e6 * params["W_k"]  # the nearer two tokens, the lower their score
    weights = forward(x, params)[1][3][3]
    assert (weights[..., 0, 0] == 1.0).all()
    assert not weights[..., ~causal_mask(5, 5)].any()


def test_no_gradient_flows_to_the_future():
    x, dout, params = random_block(T=7)
    dout[:, 4:] = 0.0
    dx, _ = causal_self_attention_backward(dout, forward(x, params)[1])
    assert not dx[:, 4:].any()
    assert dx[:, :4].all()


def test_the_first_token_sees_itself_alone():
    x, _, params = random_block((), H_kv=4)
    out, _ = forward(x, params)
    np.testing.assert_allclose(out[0], x[0] @ params["W_v"] @ params["W_o"], rtol=1e-13)


def test_grouped_queries_equal_explicitly_repeated_heads():
    x, dout, params = random_block(H=6, H_kv=2, K=2)
    repeated = dict(params)
    for name in ("W_k", "W_v"):  # columns 0 0 0 1 1 1 of two heads
        W = params[name].reshape(7, 2, 2)
        repeated[name] = np.stack([W[:, head // 3] for head in range(6)], axis=1).reshape(7, 12)
    grouped, cache = forward(x, params, 6)
    full, full_cache = forward(x, repeated, 6)
    np.testing.assert_allclose(grouped, full, rtol=1e-13)
    dx, grads = causal_self_attention_backward(dout, cache)
    full_dx, full_grads = causal_self_attention_backward(dout, full_cache)
    np.testing.assert_allclose(dx, full_dx, rtol=1e-11)
    for name in ("W_k", "W_v"):
        summed = full_grads[name].reshape(7, 2, 3, 2).sum(axis=2).reshape(7, 4)
        np.testing.assert_allclose(grads[name], summed, rtol=1e-11)


def test_heads_are_repeated_side_by_side_and_their_gradients_added():
    heads = np.arange(2.0)[:, None, None] * np.ones((2, 3, 5))
    assert repeat_heads(heads, 6)[:, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]
    assert repeat_heads(heads, 2) is heads
    drepeated = np.arange(6.0)[:, None, None] * np.ones((6, 3, 5))
    assert repeat_heads_backward(drepeated, 2)[:, 0, 0].tolist() == [0 + 1 + 2, 3 + 4 + 5]


def test_splitting_gives_each_head_its_columns_and_merging_undoes_it():
    x = np.arange(30.0).reshape(5, 6)
    heads = split_heads(x, 3)
    assert heads.shape == (3, 5, 2)
    np.testing.assert_array_equal(heads[1], x[:, 2:4])
    np.testing.assert_array_equal(merge_heads(heads), x)


def test_the_mask_ends_in_the_bottom_right_corner():
    want = [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    np.testing.assert_array_equal(causal_mask(3, 5), np.array(want, dtype=bool))
    np.testing.assert_array_equal(causal_mask(4, 4), np.tril(np.ones((4, 4), dtype=bool)))


@pytest.mark.parametrize("T", [1, 3, 7, 80, 150])
def test_the_last_queries_alone_get_what_they_get_among_all(T):
    rng = np.random.default_rng(1)
    q, dout = rng.normal(size=(2, 2, 4, 150, 6))
    k, v = rng.normal(size=(2, 2, 2, 150, 6))
    everything, _ = causal_attention_forward(q, k, v)
    last, cache = causal_attention_forward(q[..., -T:, :], k, v)
    np.testing.assert_allclose(last, everything[..., -T:, :], rtol=1e-12, atol=1e-14)
    early_silent = np.where(np.arange(150)[:, None] >= 150 - T, dout, 0.0)
    wanted = causal_attention_backward(early_silent, causal_attention_forward(q, k, v)[1])
    for got, want in zip(causal_attention_backward(dout[..., -T:, :], cache), wanted, strict=True):
        np.testing.assert_allclose(got, want[..., -got.shape[-2] :, :], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("steps", [[5], [1, 1, 1, 1, 1], [3, 2], [1, 4]])
def test_attending_step_by_step_equals_attending_at_once(steps):
    x, _, params = random_block((2, 3), T=5)
    want, cache = forward(x, params)
    read_only(x, params)
    past, outs = None, []
    for new in np.split(x, np.cumsum(steps)[:-1], axis=-2):
        out, past = causal_self_attention_step(new, params, 4, past, rope_base=100.0)
        read_only(past)
        outs.append(out)
    np.testing.assert_allclose(np.concatenate(outs, axis=-2), want, rtol=1e-12, atol=1e-14)
    assert past[0].shape == past[1].shape == (2, 3, 2, 5, 6)


def test_softmax_is_exp_over_its_sum_and_backward_agrees_with_differences():
    rng = np.random.default_rng(2)
    scores, dweights = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5))
    weights = softmax(scores)
    for i in np.ndindex(2, 3):
        powers = [math.exp(score) for score in scores[i]]
        np.testing.assert_allclose(weights[i], np.array(powers) / sum(powers), rtol=1e-14)
    slopes = numerical_gradient(lambda t: float(np.sum(dweights * softmax(t))), scores)
    assert relative_error(softmax_backward(dweights, weights), slopes) < 1e-9


def test_softmax_does_not_move_with_its_row_even_far_and_keeps_minus_infinity_at_zero():
    scores = np.array([[0.0, 1.0, -np.inf], [-1e4, 1e4, 2000.0], [5.0, -np.inf, -np.inf]])
    with np.errstate(over="raise", invalid="raise"):
        weights = softmax(scores)
        shifted = softmax(scores + np.array([[2000.0], [0.0], [-2000.0]]))
    np.testing.assert_allclose(shifted, weights, rtol=1e-14)
    assert weights[0, 2] == 0.0
    assert weights[1].tolist() == [0.0, 1.0, 0.0]
    assert weights[2].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_dtype_stays_nothing_overflows_and_nothing_is_written(scale, dtype):
    x, dout, params = random_block(dtype=dtype)
    x, params = scale * x, only(params, *ATTENTION)
    read_only(x, dout, params)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        out, cache = forward(x, params)
        read_only(cache)
        dx, grads = causal_self_attention_backward(dout, cache)
    results = [out, dx, *grads.values()]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert all(np.isfinite(result).all() for result in results)


def test_the_cache_holds_what_its_docstring_says():
    x, _, params = random_block()
    out, (kept_x, kept_params, turn, attention, merged) = forward(x, params)
    q, k, v, weights = attention
    assert kept_x is x
    assert kept_params is params
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-14)
    assert not weights[..., ~causal_mask(5, 5)].any()
    np.testing.assert_allclose(v, split_heads(x @ params["W_v"], 2))
    np.testing.assert_array_equal(merged @ params["W_o"], out)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x, dout, p: forward(x, p, 5),
            r"n_heads must divide the width of W_q: got 24, n_heads=5",
        ),
        (
            lambda x, dout, p: forward(x, p, 0),
            r"n_heads must divide the width of W_q: got 24, n_heads=0",
        ),
        (
            lambda x, dout, p: forward(x, p, 8),
            r"a head must have an even width to be turned in pairs: got K=3",
        ),
        (
            lambda x, dout, p: forward(x, {**p, "W_k": np.ones((7, 18)), "W_v": np.ones((7, 18))}),
            r"W_k must hold heads of K=6 columns, a divisor of n_heads=4 of them: got 18 columns",
        ),
        (
            lambda x, dout, p: forward(x, {**p, "W_v": p["W_q"]}),
            r"W_v must have shape \(d, H_kv·K\) = \(7, 12\): got \(7, 24\)",
        ),
        (
            lambda x, dout, p: forward(x, {**p, "W_o": p["W_q"]}),
            r"W_o must have shape \(H·K, d\) = \(24, 7\): got \(7, 24\)",
        ),
        (
            lambda x, dout, p: forward(x, only(p, "W_q", "W_k", "W_v")),
            r"params must hold W_q, W_k, W_v, W_o: W_o is missing",
        ),
        (
            lambda x, dout, p: forward(x[0, 0], p),
            r"x must have shape \(\.\.\., T, d\): got \(7,\)",
        ),
        (
            lambda x, dout, p: causal_self_attention_forward(x, p, 4, positions=np.arange(4)),
            r"positions must have shape \(5,\): got \(4,\)",
        ),
        (
            lambda x, dout, p: causal_self_attention_backward(dout[0], forward(x, p)[1]),
            r"dout must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
        (
            lambda x, dout, p: causal_mask(5, 3),
            r"queries must not outnumber keys: got T=5 queries, S=3 keys",
        ),
        (
            lambda x, dout, p: split_heads(x, 4),
            r"n_heads must divide the width: got width 7, n_heads=4",
        ),
        (
            lambda x, dout, p: repeat_heads(np.ones((2, 3, 5)), 3),
            r"n_heads must be a multiple of the key/value heads: got n_heads=3, "
            r"2 key/value heads",
        ),
        (
            lambda x, dout, p: softmax_backward(np.ones(2), np.ones(3)),
            r"dweights must have shape \(3,\): got \(2,\)",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call(*random_block())
