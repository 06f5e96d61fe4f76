"""The updates of the stream against PyTorch's values; ledger, shares and gradients by depth."""

import numpy as np
import pytest
from block_cases import ATTENTION, CASES, NORMS, SWIGLU, assert_near, only, random_block, torch_case

from transformer_block.attention import (
    causal_self_attention_backward,
    causal_self_attention_forward,
)
from transformer_block.config import llama_config
from transformer_block.contrasts import contrast_block_forward
from transformer_block.decoder import decoder_forward
from transformer_block.gradcheck import numerical_gradient, relative_error
from transformer_block.initialise import initialise_decoder
from transformer_block.residual_stream import (
    gradient_by_depth,
    logit_shares,
    post_norm_update,
    pre_norm_update,
    pre_norm_update_backward,
    stream_ledger,
)
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.swiglu import swiglu_backward, swiglu_forward
from transformer_block.traces import trace_decoder

LLAMA = (*ATTENTION, *SWIGLU, *NORMS)


@pytest.fixture(params=CASES)
def case(request):
    return torch_case(request.param)


def sublayers(case):
    """Return attention and net of a stored case, each as a function of what it reads."""
    return [
        lambda t: causal_self_attention_forward(t, case.params, *case.heads, case.positions)[0],
        lambda t: swiglu_forward(t, case.params)[0],
    ]


@pytest.mark.parametrize(
    ("update", "name"), [(pre_norm_update, "block"), (post_norm_update, "post_norm")]
)
def test_two_updates_are_the_block_of_pytorch(case, update, name):
    x = case.x
    for sublayer, norm in zip(sublayers(case), NORMS, strict=True):
        x = update(x, sublayer, case.params[norm], case.eps)
    assert_near(x, case.values[name]["out"])


def test_two_updates_backward_give_the_gradients_of_pytorch(case):
    attend, _ = sublayers(case)
    residual = pre_norm_update(case.x, attend, case.params["attn_norm"], case.eps)
    normed, _ = rmsnorm_forward(residual, case.params["ffn_norm"], case.eps)
    _, ffn = swiglu_forward(normed, case.params)
    normed, _ = rmsnorm_forward(case.x, case.params["attn_norm"], case.eps)
    _, attn = causal_self_attention_forward(normed, case.params, *case.heads, case.positions)
    dx, dffn = pre_norm_update_backward(
        case.dout,
        residual,
        lambda g: swiglu_backward(g, ffn)[0],
        case.params["ffn_norm"],
        case.eps,
    )
    dx, dattn = pre_norm_update_backward(
        dx,
        case.x,
        lambda g: causal_self_attention_backward(g, attn)[0],
        case.params["attn_norm"],
        case.eps,
    )
    for got, name in ((dx, "dx"), (dffn, "dffn_norm"), (dattn, "dattn_norm")):
        assert_near(got, case.values["block"][name])


def test_the_ledger_is_the_block_of_pytorch_and_adds_up_bit_for_bit(case):
    gains = np.stack([case.params[name] for name in NORMS])
    out, writes = stream_ledger(case.x, sublayers(case), gains, case.eps)
    assert_near(out, case.values["block"]["out"])
    np.testing.assert_array_equal(out, (case.x + writes[0]) + writes[1])


def test_a_sublayer_that_writes_zero_leaves_the_stream_as_it_is_bit_for_bit():
    x, dout, params = random_block()
    gain = params["attn_norm"]
    np.testing.assert_array_equal(pre_norm_update(x, np.zeros_like, gain), x)
    dx, dweight = pre_norm_update_backward(dout, x, np.zeros_like, gain)
    np.testing.assert_array_equal(dx, dout)
    np.testing.assert_array_equal(dweight, np.zeros(7))
    assert not np.allclose(post_norm_update(x, np.zeros_like, gain), x)


def small_model():
    config = llama_config(d=12, n_layers=3, n_heads=2, n_kv_heads=1, h=17, V=13)
    params = initialise_decoder(config, np.random.default_rng(0), std=0.5, dtype=np.float64)
    return params | {"final_norm": np.linspace(-1, 2, 12)}, np.array([[3, 11, 3, 0, 7]])


def test_the_shares_add_up_to_the_logit_of_the_decoder():
    params, ids = small_model()
    logits, _ = decoder_forward(ids, params, 2)
    trace = trace_decoder(ids, params, 2)
    parts = np.concatenate([trace["stream"][:1], trace["writes"]])
    for token, row in enumerate(params["embedding"]):
        shares = logit_shares(parts, params["final_norm"], row)
        assert shares.shape == (7, 1, 5)
        np.testing.assert_allclose(shares.sum(axis=0), logits[..., token], rtol=0, atol=1e-12)


def test_a_part_of_zero_has_no_share_and_a_doubled_stream_has_the_same_shares():
    parts = np.random.default_rng(0).normal(size=(3, 5, 7))
    parts[1] = 0.0
    gain, row = np.random.default_rng(1).normal(size=(2, 7))
    shares = logit_shares(parts, gain, row, eps=0.0)
    np.testing.assert_array_equal(shares[1], np.zeros(5))
    np.testing.assert_allclose(logit_shares(2 * parts, gain, row, eps=0.0), shares, rtol=1e-13)


@pytest.mark.parametrize("order", ["pre", "post", "none"])
def test_the_size_of_the_gradient_before_each_block_is_what_differences_give(order):
    x, dout, _ = random_block((), T=3, d=5)
    blocks = [only(random_block(d=5, h=3, K=2, seed=seed)[2], *LLAMA) for seed in range(3)]

    def loss_after(place):
        def loss(stream):
            for block in blocks[place:]:
                stream, _ = contrast_block_forward(stream, block, 4, order=order)
            return float(np.sum(dout * stream))

        return loss

    sizes = gradient_by_depth(x, blocks, dout, 4, order)
    streams = [x]
    for block in blocks:
        streams.append(contrast_block_forward(streams[-1], block, 4, order=order)[0])
    for place, stream in enumerate(streams):
        gradient = numerical_gradient(loss_after(place), stream)
        assert relative_error(sizes[place], np.sqrt(np.mean(gradient**2))) < 1e-6


def test_float32_stays_and_nothing_is_written_into():
    x, dout, params = random_block(dtype=np.float32)
    gain = params["attn_norm"]
    kept = np.ones_like(x)  # a write that belongs to the sublayer
    for array in (x, dout, gain, kept):
        array.flags.writeable = False
    assert pre_norm_update(x, lambda t: kept, gain).dtype == np.float32
    assert post_norm_update(x, lambda t: kept, gain).dtype == np.float32
    assert {g.dtype for g in pre_norm_update_backward(dout, x, lambda t: kept, gain)} == {
        np.dtype(np.float32)
    }
    for result in stream_ledger(x, [lambda t: kept] * 2, np.stack([gain, gain])):
        assert result.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda x, dout, g: pre_norm_update(x, lambda t: t[..., :1], g),
            r"what the sublayer writes must have shape \(2, 5, 7\): got \(2, 5, 1\)",
        ),
        (
            lambda x, dout, g: post_norm_update(x, lambda t: t[0], g),
            r"what the sublayer writes must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
        (
            lambda x, dout, g: pre_norm_update_backward(dout[0], x, lambda t: t, g),
            r"dout must have shape \(2, 5, 7\): got \(5, 7\)",
        ),
        (
            lambda x, dout, g: stream_ledger(x, [np.sin, np.cos], g[None]),
            r"weights must have shape \(2, 7\): got \(1, 7\)",
        ),
        (
            lambda x, dout, g: logit_shares(x, g, g[:5]),
            r"direction must have shape \(d,\) = \(7,\), the width of x: got \(5,\)",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_a_sentence(call, sentence):
    x, dout, params = random_block()
    with pytest.raises(ValueError, match=sentence):
        call(x, dout, params["attn_norm"])
