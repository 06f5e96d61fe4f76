"""Cross-entropy against its definition, at sizes where the definition itself would overflow."""

import math

import numpy as np
import pytest

from transformer_block.gradcheck import gradient_check
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward, log_softmax

V = 11
TARGETS = np.array([[3, 0, 3], [10, 7, 3]])


def logits_of(scale=1.0, dtype=np.float64):
    return (scale * np.random.default_rng(0).normal(size=(2, 3, V))).astype(dtype)


def test_the_loss_is_the_mean_of_minus_log_p_of_the_targets():
    logits = logits_of()
    want = []
    for place in np.ndindex(TARGETS.shape):
        total = math.fsum(math.exp(s) for s in logits[place])
        want.append(-math.log(math.exp(logits[place][TARGETS[place]]) / total))
    assert cross_entropy_forward(logits, TARGETS)[0] == pytest.approx(
        math.fsum(want) / 6, rel=1e-14
    )


def test_equal_logits_cost_ln_v():
    assert cross_entropy_forward(np.full((5, V), 7.0), np.arange(5))[0] == pytest.approx(
        math.log(V), rel=1e-14
    )


def test_the_backward_pass_agrees_with_finite_differences():
    logits = logits_of()
    _, cache = cross_entropy_forward(logits, TARGETS)
    errors = gradient_check(
        lambda t: 3.0 * cross_entropy_forward(t["logits"], TARGETS)[0],
        {"logits": logits},
        {"logits": cross_entropy_backward(3.0, cache)},
    )
    assert errors["logits"] < 1e-9


def test_a_position_of_weight_two_counts_as_much_as_the_same_position_twice():
    logits, weights = logits_of(), np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0]])
    repeated = [(0, 0), (0, 1), (0, 1), (1, 0), (1, 2)]
    rows, targets = (np.stack([a[place] for place in repeated]) for a in (logits, TARGETS))
    want, _ = cross_entropy_forward(rows, targets)
    assert cross_entropy_forward(logits, TARGETS, weights)[0] == pytest.approx(want, rel=1e-14)
    errors = gradient_check(
        lambda t: cross_entropy_forward(t["logits"], TARGETS, weights)[0],
        {"logits": logits},
        {"logits": cross_entropy_backward(1.0, cross_entropy_forward(logits, TARGETS, weights)[1])},
    )
    assert errors["logits"] < 1e-9


def test_the_gradient_of_each_position_sums_to_zero():
    _, cache = cross_entropy_forward(logits_of(), TARGETS)
    np.testing.assert_allclose(cross_entropy_backward(1.0, cache).sum(axis=-1), 0.0, atol=1e-16)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_large_logits_overflow_nowhere_and_the_dtype_stays(dtype):
    logits = logits_of(1e4, dtype)
    loss, cache = cross_entropy_forward(logits, TARGETS)
    dlogits = cross_entropy_backward(1.0, cache)
    assert math.isfinite(loss)
    assert np.isfinite(log_softmax(logits)).all()
    assert log_softmax(logits).dtype == dlogits.dtype == dtype


def test_nothing_writes_into_its_arguments():
    logits = logits_of()
    logits.flags.writeable = False  # a write would raise
    _, cache = cross_entropy_forward(logits, TARGETS)
    for kept in cache:
        kept.flags.writeable = False
    first = cross_entropy_backward(1.0, cache)
    assert cross_entropy_backward(1.0, cache).tolist() == first.tolist()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: cross_entropy_forward(np.ones((3, V)), np.arange(2)),
            r"targets must have shape \(3,\): got \(2,\)",
        ),
        (
            lambda: cross_entropy_forward(np.ones((2, V)), np.array([1, V])),
            r"targets must lie in the vocabulary, 0 to V-1 = 10: got 1 to 11",
        ),
        (
            lambda: cross_entropy_forward(np.ones((2, V)), np.arange(2), np.ones(3)),
            r"weights must have shape \(2,\): got \(3,\)",
        ),
        (
            lambda: cross_entropy_forward(np.ones((2, V)), np.arange(2), np.zeros(2)),
            r"weights must have a positive sum: got 0\.0",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
