"""The given faulty passes: one gradient is wrong in each, and a careless check lets it pass."""

import numpy as np
import pytest
from block_cases import random_block

from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.faulty import faulty_backward
from transformer_block.gradcheck import gradient_check, relative_error

H = 4
WRONG = {1: "ffn_norm", 2: "x", 3: "W_v", 4: "attn_norm"}


def errors(fault, dtype=np.float64, gains=None, **sizes):
    """Compare a faulty pass with the right one, which differences and PyTorch have confirmed."""
    x, dout, params = random_block(dtype=dtype, **sizes)
    if gains is not None:
        params |= {"attn_norm": gains(params["attn_norm"]), "ffn_norm": gains(params["ffn_norm"])}
    cache = transformer_block_forward(x, params, H)[1]
    (dx, grads), (fx, found) = (
        transformer_block_backward(dout, cache),
        faulty_backward(dout, cache, fault),
    )
    pairs = {"x": (fx, dx), **{name: (found[name], grads[name]) for name in grads}}
    assert found.keys() == grads.keys()
    return {name: relative_error(*pair) for name, pair in pairs.items()}


@pytest.mark.parametrize("fault", WRONG)
def test_exactly_one_gradient_is_wrong_and_far_enough_off_to_be_found(fault):
    found = errors(fault)
    assert found.pop(WRONG[fault]) > 1e-6
    assert max(found.values()) == 0.0


def test_the_first_hides_where_gains_are_one_as_they_are_at_the_start():
    assert errors(1, gains=np.ones_like)["ffn_norm"] < 1e-15


def test_the_third_hides_where_no_key_is_shared():
    assert errors(3, H_kv=4)["W_v"] == 0.0


def test_the_fourth_hides_behind_a_loose_tolerance_and_in_float32():
    assert 1e-6 < errors(4)["attn_norm"] < 1e-4
    x, dout, params = random_block(dtype=np.float32)
    params = {name: params[name] for name in transformer_block_grads(x, dout, params)}
    _, grads = faulty_backward(dout, transformer_block_forward(x, params, H)[1], 4)

    def loss(t):
        single = {name: value.astype(np.float32) for name, value in t.items()}
        return np.sum(dout * transformer_block_forward(x, {**params, **single}, H)[0])

    found = gradient_check(
        loss, {"attn_norm": params["attn_norm"]}, {"attn_norm": grads["attn_norm"]}, 1e-2
    )
    assert found["attn_norm"] > 1e-5  # what float32 brings hides what the fault brings


def transformer_block_grads(x, dout, params):
    return transformer_block_backward(dout, transformer_block_forward(x, params, H)[1])[1]


def test_float32_goes_in_and_comes_out():
    x, dout, params = random_block(dtype=np.float32)
    cache = transformer_block_forward(x, params, H)[1]
    for fault in WRONG:
        dx, grads = faulty_backward(dout, cache, fault)
        assert {dx.dtype, *(gradient.dtype for gradient in grads.values())} == {x.dtype}


def test_a_fault_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"^fault must be 1, 2, 3 or 4: got 5$"):
        faulty_backward(None, None, 5)
