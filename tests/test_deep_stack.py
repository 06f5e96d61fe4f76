"""Deep stacks: their gradients, and what depth does to training with and without residuals."""

import numpy as np
import pytest

from transformer_block._trees import flatten, tree_map, unflatten
from transformer_block.decoder import loss_and_gradients
from transformer_block.deep_stack import draw_stack, stack_loss_and_gradients, train_on_a_cycle
from transformer_block.gradcheck import gradient_check

IDS = np.array([[3, 11, 3, 0, 7], [5, 2, 12, 3, 3]])


def stack(n_layers=2, d=8, h=5):
    params = draw_stack(np.random.default_rng(0), n_layers, d=d, h=h)
    return tree_map(lambda a: a.astype(np.float64), params)


def test_with_pre_norm_it_is_the_decoder_bit_for_bit():
    params = stack()
    loss, grads = stack_loss_and_gradients(IDS[:, :-1], IDS[:, 1:], params, 4)
    same, same_grads = loss_and_gradients(IDS[:, :-1], IDS[:, 1:], params, 4)
    assert loss == same
    for name, gradient in flatten(same_grads).items():
        np.testing.assert_array_equal(flatten(grads)[name], gradient)


@pytest.mark.parametrize("order", ["post", "none"])
def test_the_other_orders_agree_with_differences(order):
    params = stack(n_layers=2, d=8, h=3)
    ids, targets = IDS[:, :-1], IDS[:, 1:]
    _, grads = stack_loss_and_gradients(ids, targets, params, 4, order)
    asked = ("embedding", "blocks.0.W_down", "blocks.1.attn_norm", "final_norm")
    flat = flatten(params)

    def loss(tensors):
        return stack_loss_and_gradients(ids, targets, unflatten({**flat, **tensors}), 4, order)[0]

    errors = gradient_check(
        loss, {name: flat[name] for name in asked}, {name: flatten(grads)[name] for name in asked}
    )
    assert max(errors.values()) < 1e-5, errors


def test_writers_are_drawn_as_large_as_the_rest_or_smaller_by_the_root_of_2L():
    plain, scaled = (
        draw_stack(np.random.default_rng(0), 8, d=64, h=128, scaled_writers=s)
        for s in (False, True)
    )
    for name, matrix in plain["blocks"][3].items():
        factor = 4 if name in ("W_o", "W_down") else 1  # √(2 · 8)
        np.testing.assert_allclose(scaled["blocks"][3][name] * factor, matrix, rtol=1e-6)
        if matrix.ndim == 2:
            assert np.std(matrix) == pytest.approx(1 / 8, rel=0.03)


@pytest.mark.parametrize("order", ["pre", "post", "none"])
def test_two_layers_learn_the_cycle_in_every_order(order):
    losses = train_on_a_cycle(2, order, n_steps=60)
    assert losses[0] > 2.5
    assert losses[-1] < 1.0


@pytest.mark.parametrize(("order", "low", "high"), [("pre", 0.0, 1.8), ("none", 2.4, 3.0)])
def test_thirty_two_layers_learn_with_residuals_and_guess_without(order, low, high):
    last = train_on_a_cycle(32, order, n_steps=12)[-3:]
    assert low < last.mean() < high  # a guess costs ln 13 = 2.565


def test_the_same_seed_trains_the_same_way():
    first, again = (train_on_a_cycle(1, "pre", n_steps=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
