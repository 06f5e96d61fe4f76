"""Both ends of the decoder against slow loops; repeated ids are added up, not overwritten."""

import numpy as np
import pytest

from transformer_block.embedding import (
    embedding_backward,
    embedding_forward,
    logits_backward,
    logits_forward,
)
from transformer_block.gradcheck import gradient_check

V, d = 11, 5
IDS = np.array([[3, 1, 3], [3, 7, 10]])


def draw(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def test_each_id_gets_its_own_row():
    (weight,) = draw((V, d))
    out, _ = embedding_forward(IDS, weight)
    for place in np.ndindex(IDS.shape):
        assert out[place].tolist() == weight[IDS[place]].tolist()


def test_a_token_that_comes_three_times_gets_three_gradients_and_an_absent_one_none():
    weight, dout = draw((V, d), (2, 3, d))
    dweight = embedding_backward(dout, embedding_forward(IDS, weight)[1])
    want = np.zeros((V, d))
    for place in np.ndindex(IDS.shape):
        want[IDS[place]] += dout[place]
    np.testing.assert_allclose(dweight, want, rtol=0, atol=1e-15)
    assert not dweight[[0, 2, 4, 5, 6, 8, 9]].any()


def test_a_logit_is_the_inner_product_of_a_position_and_a_row():
    weight, x = draw((V, d), (2, 3, d))
    logits, _ = logits_forward(x, weight)
    for *place, token in np.ndindex(2, 3, V):
        want = sum(x[(*place, i)] * weight[token, i] for i in range(d))
        assert logits[(*place, token)] == pytest.approx(want, rel=1e-13, abs=1e-13)


def test_both_backward_passes_agree_with_finite_differences():
    weight, x, dout, dlogits = draw((V, d), (2, 3, d), (2, 3, d), (2, 3, V))
    dtable = embedding_backward(dout, embedding_forward(IDS, weight)[1])
    dx, dweight = logits_backward(dlogits, logits_forward(x, weight)[1])
    lookup = gradient_check(
        lambda t: float(np.sum(dout * embedding_forward(IDS, t["weight"])[0])),
        {"weight": weight},
        {"weight": dtable},
    )
    scores = gradient_check(
        lambda t: float(np.sum(dlogits * logits_forward(t["x"], t["weight"])[0])),
        {"x": x, "weight": weight},
        {"x": dx, "weight": dweight},
    )
    assert max(*lookup.values(), *scores.values()) < 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_stays_and_nothing_is_written_into(dtype):
    weight, x, dout = (a.astype(dtype) for a in draw((V, d), (3, d), (3, d)))
    for array in (weight, x, dout):
        array.flags.writeable = False  # a write would raise
    logits, cache = logits_forward(x, weight)
    rows, lookup = embedding_forward(IDS[0], weight)
    results = [logits, rows, embedding_backward(dout, lookup), *logits_backward(logits, cache)]
    assert {result.dtype for result in results} == {np.dtype(dtype)}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: embedding_forward(np.array([0, 11]), np.ones((11, 5))),
            r"ids must lie in the vocabulary, 0 to V-1 = 10: got 0 to 11",
        ),
        (
            lambda: embedding_forward(np.array([-1, 3]), np.ones((11, 5))),
            r"ids must lie in the vocabulary, 0 to V-1 = 10: got -1 to 3",
        ),
        (
            lambda: embedding_forward(np.array([0.0]), np.ones((11, 5))),
            r"ids must be integers: got float64",
        ),
        (
            lambda: embedding_backward(
                np.ones((3, 4)), embedding_forward(np.arange(3), np.ones((11, 5)))[1]
            ),
            r"dout must have shape \(3, 5\): got \(3, 4\)",
        ),
        (
            lambda: logits_forward(np.ones((3, 5)), np.ones((11, 4))),
            r"weight must have shape \(11, 5\): got \(11, 4\)",
        ),
        (
            lambda: logits_backward(
                np.ones((3, 5)), logits_forward(np.ones((3, 5)), np.ones((11, 5)))[1]
            ),
            r"dlogits must have shape \(3, 11\): got \(3, 5\)",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
