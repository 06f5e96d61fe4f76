"""RoPE against PyTorch's complex numbers, and what a turn promises."""

import numpy as np
import pytest
from block_cases import CASES, assert_near, torch_case

from transformer_block.gradcheck import numerical_gradient, relative_error
from transformer_block.rope import half_split_order, rope_angles, rope_backward, rope_forward


@pytest.fixture(params=CASES)
def case(request):
    return torch_case(request.param)


def even(array):
    return array[..., : array.shape[-1] // 2 * 2]


def test_rope_gives_what_pytorch_gives(case):
    out, cache = rope_forward(even(case.x), case.positions, case.heads[1])
    assert_near(out, case.values["rope"]["out"])
    assert_near(rope_backward(even(case.dout), cache), even(case.values["rope"]["dx"]))


def test_each_pair_is_turned_by_position_times_its_frequency():
    x = np.random.default_rng(0).normal(size=(2, 3, 6))
    out, _ = rope_forward(x, np.array([0, 5, 11]), rope_base=100.0)
    for b, t, i in np.ndindex(2, 3, 3):
        angle = [0, 5, 11][t] * 100.0 ** (-2 * i / 6)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        np.testing.assert_allclose(out[b, t, 2 * i : 2 * i + 2], turn @ x[b, t, 2 * i : 2 * i + 2])


def test_without_positions_they_count_from_zero():
    x = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_array_equal(rope_forward(x)[0], rope_forward(x, np.arange(5))[0])
    np.testing.assert_array_equal(rope_forward(x)[0][0], x[0])


def test_the_score_of_two_turned_rows_depends_on_their_distance_alone():
    q, k = np.random.default_rng(2).normal(size=(2, 1, 6))

    def score(m, n):
        return (rope_forward(q, np.array([m]))[0] @ rope_forward(k, np.array([n]))[0].T).item()

    assert score(3, 1) == pytest.approx(score(1003, 1001), abs=1e-12)
    assert score(3, 1) != pytest.approx(score(1, 3), abs=1e-3)


def test_the_length_of_every_pair_stays():
    x = np.random.default_rng(3).normal(size=(2, 7, 6))
    out, _ = rope_forward(x)
    pairs = (2, 7, 3, 2)
    np.testing.assert_allclose(
        np.linalg.norm(out.reshape(pairs), axis=-1), np.linalg.norm(x.reshape(pairs), axis=-1)
    )


@pytest.mark.parametrize("half_split", [False, True])
def test_backward_undoes_forward_and_agrees_with_differences(half_split):
    rng = np.random.default_rng(4)
    x, dout = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(2, 3, 5, 6))
    out, cache = rope_forward(x, half_split=half_split)
    np.testing.assert_allclose(rope_backward(out, cache), x, atol=1e-14)
    slopes = numerical_gradient(
        lambda t: float(np.sum(dout * rope_forward(t, half_split=half_split)[0])), x
    )
    assert relative_error(rope_backward(dout, cache), slopes) < 1e-9


def test_the_two_layouts_are_one_turn_in_another_order():
    x = np.random.default_rng(5).normal(size=(3, 5, 10))
    order = half_split_order(10)
    assert order.tolist() == [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
    half, _ = rope_forward(x[..., order], half_split=True)
    np.testing.assert_allclose(half[..., np.argsort(order)], rope_forward(x)[0], rtol=1e-14)
    assert not np.allclose(rope_forward(x)[0], rope_forward(x, half_split=True)[0])


def test_the_half_split_layout_is_hugging_face_s_rotate_half():
    x = np.random.default_rng(6).normal(size=(5, 6))
    angles = np.tile(rope_angles(np.arange(5), 6), 2)  # what transformers computes, in its words
    rotated = np.concatenate((-x[:, 3:], x[:, :3]), axis=-1)
    want = x * np.cos(angles) + rotated * np.sin(angles)
    np.testing.assert_allclose(rope_forward(x, half_split=True)[0], want, rtol=1e-14)


def test_a_far_position_in_float32_is_turned_as_in_float64():
    x = np.random.default_rng(7).normal(size=(1, 64))
    far = np.array([1_000_003])
    got, _ = rope_forward(x.astype(np.float32), far)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, rope_forward(x, far)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: rope_forward(np.ones((2, 5))),
            r"a head must have an even width to be turned in pairs: got K=5",
        ),
        (
            lambda: half_split_order(7),
            r"a head must have an even width to be turned in pairs: got K=7",
        ),
        (
            lambda: rope_forward(np.ones((3, 4)), np.arange(2)),
            r"positions must have shape \(3,\): got \(2,\)",
        ),
        (
            lambda: rope_angles(np.zeros((1, 2)), 4),
            r"positions must have shape \(T,\): got \(1, 2\)",
        ),
        (lambda: rope_forward(np.ones(4)), r"x must have shape \(\.\.\., T, K\): got \(4,\)"),
        (
            lambda: rope_forward(np.ones((3, 4)), rope_base=0.0),
            r"rope_base must be positive: got 0\.0",
        ),
        (
            lambda: rope_backward(np.ones((2, 4)), rope_forward(np.ones((3, 4)))[1]),
            r"dout must have shape \(3, 4\): got \(2, 4\)",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
