"""The block and its contrasts against PyTorch's values, and what the residual stream promises."""

from functools import partial

import numpy as np
import pytest
from block_cases import (
    ATTENTION,
    CASES,
    LEADING,
    NORMS,
    SWIGLU,
    assert_gives,
    errors_against_differences,
    only,
    random_block,
    read_only,
    torch_case,
)

from transformer_block.attention import causal_self_attention_forward
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.step import transformer_block_step
from transformer_block.swiglu import swiglu_forward

LLAMA = (*ATTENTION, *SWIGLU, *NORMS)
GPT2 = (*ATTENTION, "W_1", "W_2", *NORMS, "attn_norm_bias", "ffn_norm_bias")
CONTRASTS = {  # name in the stored values: how it is built, and the weights it uses
    "block": ({}, LLAMA),
    "post_norm": ({"order": "post"}, LLAMA),
    "no_residual": ({"order": "none"}, LLAMA),
    "gpt2": ({"norm": "layer", "net": "gelu"}, GPT2),
}


@pytest.fixture(params=CASES)
def case(request):
    return torch_case(request.param)


def forward(x, params):
    return transformer_block_forward(x, params, n_heads=4, rope_base=100.0, eps=0.1)


def test_the_block_gives_what_pytorch_gives(case):
    out, cache = transformer_block_forward(
        case.x, case.params, *case.heads, case.eps, case.positions
    )
    assert_gives(case.values["block"], out, *transformer_block_backward(case.dout, cache))


@pytest.mark.parametrize("name", CONTRASTS)
def test_each_contrast_gives_what_pytorch_gives(case, name):
    built, _ = CONTRASTS[name]
    positions = np.zeros_like(case.positions) if name == "gpt2" else case.positions
    out, cache = contrast_block_forward(
        case.x, case.params, *case.heads, case.eps, positions, **built
    )
    assert_gives(case.values[name], out, *contrast_block_backward(case.dout, cache))


@pytest.mark.parametrize("leading", LEADING)
def test_every_gradient_of_the_block_agrees_with_differences(leading):
    x, dout, params = random_block(leading, T=3, d=5, h=3, K=2)
    errors = errors_against_differences(
        forward, transformer_block_backward, x, dout, only(params, *LLAMA)
    )
    assert max(errors.values()) < 1e-6, errors


@pytest.mark.parametrize("name", CONTRASTS)
def test_every_gradient_of_a_contrast_agrees_with_differences(name):
    built, names = CONTRASTS[name]
    x, dout, params = random_block(T=3, d=5, h=3, K=2)
    errors = errors_against_differences(
        partial(contrast_block_forward, n_heads=4, eps=0.1, **built),
        contrast_block_backward,
        x,
        dout,
        only(params, *names),
    )
    assert max(errors.values()) < 1e-6, errors


def test_the_contrast_with_nothing_changed_is_the_block_bit_for_bit():
    x, dout, params = random_block()
    out, cache = forward(x, params)
    same, same_cache = contrast_block_forward(x, params, 4, rope_base=100.0, eps=0.1)
    np.testing.assert_array_equal(same, out)
    dx, grads = transformer_block_backward(dout, cache)
    same_dx, same_grads = contrast_block_backward(dout, same_cache)
    np.testing.assert_array_equal(same_dx, dx)
    assert set(same_grads) == set(grads) == set(LLAMA)
    for name, gradient in grads.items():
        np.testing.assert_array_equal(same_grads[name], gradient)


def test_the_block_is_two_updates_of_the_stream():
    x, _, params = random_block()
    out, (norm1, attn_cache, residual, norm2, ffn_cache) = forward(x, params)
    normed, _ = rmsnorm_forward(x, params["attn_norm"], 0.1)
    attended, _ = causal_self_attention_forward(normed, params, 4, 100.0)
    np.testing.assert_array_equal(residual, x + attended)
    normed, _ = rmsnorm_forward(residual, params["ffn_norm"], 0.1)
    np.testing.assert_array_equal(out, residual + swiglu_forward(normed, params)[0])
    assert norm1[0] is x
    assert norm2[0] is residual
    np.testing.assert_array_equal(ffn_cache[0], normed)


def test_a_block_whose_branches_write_zero_is_the_identity_bit_for_bit():
    x, dout, params = random_block()
    params |= {"W_o": np.zeros_like(params["W_o"]), "W_down": np.zeros_like(params["W_down"])}
    out, cache = forward(x, params)
    dx, _ = transformer_block_backward(dout, cache)
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(dx, dout)


@pytest.mark.parametrize("value", [1e12, -1e12])
def test_the_past_does_not_move_when_the_future_is_disturbed(value):
    x, _, params = random_block(T=7)
    before, _ = forward(x, params)
    disturbed = x.copy()
    disturbed[:, 4:] = value
    disturbed[:, 4:, 0] *= 2
    after, _ = forward(disturbed, params)
    np.testing.assert_array_equal(after[:, :4], before[:, :4])
    assert not np.allclose(after[:, 4:], before[:, 4:])


@pytest.mark.parametrize("leading", [(2,), (2, 3)])
def test_leading_axes_are_so_many_sequences_each_by_itself(leading):
    x, dout, params = random_block(leading)
    out, cache = forward(x, params)
    dx, grads = transformer_block_backward(dout, cache)
    summed = dict.fromkeys(grads, 0.0)
    for i in np.ndindex(leading):
        one, one_cache = forward(x[i], params)
        one_dx, one_grads = transformer_block_backward(dout[i], one_cache)
        np.testing.assert_allclose(out[i], one, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(dx[i], one_dx, rtol=1e-12, atol=1e-13)
        summed = {name: total + one_grads[name] for name, total in summed.items()}
    for name, gradient in grads.items():
        np.testing.assert_allclose(gradient, summed[name], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("steps", [[5], [1, 1, 1, 1, 1], [3, 2]])
def test_the_block_step_by_step_equals_the_block_at_once(steps):
    x, _, params = random_block(T=5)
    want, _ = forward(x, params)
    read_only(x, params)
    past, outs = None, []
    for new in np.split(x, np.cumsum(steps)[:-1], axis=-2):
        out, past = transformer_block_step(new, params, 4, past, rope_base=100.0, eps=0.1)
        read_only(past)
        outs.append(out)
    np.testing.assert_allclose(np.concatenate(outs, axis=-2), want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("name", CONTRASTS)
def test_the_dtype_stays_nothing_overflows_and_nothing_is_written(name, scale, dtype):
    built, names = CONTRASTS[name]
    x, dout, params = random_block(dtype=dtype)
    x, params = scale * x, only(params, *names)
    read_only(x, dout, params)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        out, cache = contrast_block_forward(x, params, 4, **built)
        read_only(cache)
        dx, grads = contrast_block_backward(dout, cache)
    results = [out, dx, *grads.values()]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert all(np.isfinite(result).all() for result in results)
    assert {n: g.shape for n, g in grads.items()} == {n: p.shape for n, p in params.items()}


def test_float32_agrees_with_float64_to_its_own_precision():
    x, dout, params = random_block(T=13)
    narrow = {name: weight.astype(np.float32) for name, weight in params.items()}
    out, cache = forward(x, params)
    out32, cache32 = forward(x.astype(np.float32), narrow)
    dx, grads = transformer_block_backward(dout, cache)
    dx32, grads32 = transformer_block_backward(dout.astype(np.float32), cache32)
    for got, want in [(out32, out), (dx32, dx), *((grads32[n], g) for n, g in grads.items())]:
        assert np.max(np.abs(got - want)) <= 2e-5 * np.max(np.abs(want))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x, dout, p: forward(x, {**p, "ffn_norm": np.ones(5)}),
            r"ffn_norm must have shape \(d,\) = \(7,\): got \(5,\)",
        ),
        (
            lambda x, dout, p: forward(x, only(p, *ATTENTION, *SWIGLU)),
            r"params must hold attn_norm, ffn_norm: attn_norm is missing",
        ),
        (
            lambda x, dout, p: transformer_block_step(x, only(p, *ATTENTION, *SWIGLU), 4),
            r"params must hold attn_norm, ffn_norm: attn_norm is missing",
        ),
        (lambda x, dout, p: forward(x[0, 0], p), r"x must have shape \(\.\.\., T, d\): got \(7,\)"),
        (
            lambda x, dout, p: transformer_block_backward(dout[0], forward(x, p)[1]),
            r"dout must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
        (
            lambda x, dout, p: contrast_block_forward(x, p, 4, order="after"),
            r"order must be one of pre, post, none: got 'after'",
        ),
        (
            lambda x, dout, p: contrast_block_forward(x, p, 4, norm="batch"),
            r"norm must be one of rms, layer: got 'batch'",
        ),
        (
            lambda x, dout, p: contrast_block_forward(x, p, 4, net="relu"),
            r"net must be one of swiglu, gelu: got 'relu'",
        ),
        (
            lambda x, dout, p: contrast_block_forward(x, only(p, *LLAMA), 4, norm="layer"),
            r"params must hold attn_norm, attn_norm_bias, ffn_norm, ffn_norm_bias: "
            r"attn_norm_bias is missing",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call(*random_block())
