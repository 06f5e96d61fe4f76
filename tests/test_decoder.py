"""The whole decoder against PyTorch's stored values and finite differences on every parameter."""

import math
from pathlib import Path

import numpy as np
import pytest

from transformer_block._trees import flatten, tree_map, unflatten
from transformer_block.config import llama_config
from transformer_block.decoder import decoder_backward, decoder_forward, loss_and_gradients
from transformer_block.gradcheck import gradient_check
from transformer_block.initialise import initialise_decoder
from transformer_block.loss import cross_entropy_forward

STORED = Path(__file__).parent / "data" / "torch_decoder.npz"
H = 5  # heads of the stored decoders


def branch(flat, start):
    """Return the tree of all arrays whose names begin so."""
    return unflatten({n.removeprefix(start): a for n, a in flat.items() if n.startswith(start)})


@pytest.fixture(params=["tied", "untied", "grouped"])
def case(request):
    with np.load(STORED) as stored:
        return branch(stored, f"{request.param}.")


def assert_near(got, want):
    """Compare to 1e-10 of the largest entry: three blocks of float64 leave about 1e-13."""
    assert got.shape == want.shape
    assert np.max(np.abs(got - want)) <= 1e-10 * np.max(np.abs(want))


def test_the_logits_are_those_of_pytorch(case):
    logits, _ = decoder_forward(case["ids"], case["params"], H)
    assert_near(logits, case["logits"])


def test_loss_and_every_gradient_are_those_of_pytorch(case):
    loss, grads = loss_and_gradients(case["ids"], case["targets"], case["params"], H)
    assert loss == pytest.approx(case["loss"].item(), rel=1e-12)
    found, wanted = flatten(grads), flatten(case["grads"])
    assert found.keys() == wanted.keys() == flatten(case["params"]).keys()
    for name, gradient in found.items():
        assert_near(gradient, wanted[name])


def tiny_decoder(tied, seed=0, dtype=np.float64):
    """Make a decoder of two blocks with grouped queries and gains that are not one."""
    config = llama_config(
        d=8, n_layers=2, n_heads=4, n_kv_heads=2, h=5, V=7, tied="tied" if tied else "untied"
    )
    rng = np.random.default_rng(seed)
    params = initialise_decoder(config, rng, std=0.7, dtype=dtype)
    return tree_map(lambda p: p + (0.3 * rng.normal(size=p.shape)).astype(dtype), params)


IDS = np.array([[2, 5, 2], [2, 0, 3]])  # 2 comes three times, 1, 4 and 6 never
TARGETS = np.array([[5, 2, 2], [0, 3, 6]])


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_every_parameter_passes_its_gradient_check(tied):
    params = tiny_decoder(tied)
    _, grads = loss_and_gradients(IDS, TARGETS, params, n_heads=4)

    def loss(tensors):
        logits, _ = decoder_forward(IDS, unflatten(tensors), n_heads=4)
        return cross_entropy_forward(logits, TARGETS)[0]

    errors = gradient_check(loss, flatten(params), flatten(grads))
    assert max(errors.values()) < 1e-8, errors


def test_untied_gradients_of_both_ends_add_up_to_the_tied_one():
    params = tiny_decoder(tied=True)
    _, tied = loss_and_gradients(IDS, TARGETS, params, n_heads=4)
    split = {**params, "head": params["embedding"]}
    _, untied = loss_and_gradients(IDS, TARGETS, split, n_heads=4)
    assert not untied["embedding"][[1, 4, 6]].any()  # these tokens were never looked up …
    assert untied["head"].all()  # … but every token had a logit
    np.testing.assert_allclose(
        untied["embedding"] + untied["head"], tied["embedding"], rtol=1e-14, atol=1e-16
    )


def test_a_fresh_model_has_a_loss_near_ln_v():
    V = 97
    config = llama_config(d=32, n_layers=3, n_heads=4, n_kv_heads=4, h=88, V=V)
    rng = np.random.default_rng(1)
    params = initialise_decoder(config, rng)
    ids = rng.integers(V, size=(3, 65))
    loss, _ = loss_and_gradients(ids[:, :-1], ids[:, 1:], params, n_heads=4)
    assert loss == pytest.approx(math.log(V), abs=0.03)


def test_a_later_token_changes_no_earlier_logits():
    params = tiny_decoder(tied=True)
    before, _ = decoder_forward(np.array([2, 5, 1, 3]), params, n_heads=4)
    after, _ = decoder_forward(np.array([2, 5, 1, 6]), params, n_heads=4)
    assert before[:3].tolist() == after[:3].tolist()
    assert (before[3] != after[3]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_the_dtype_stays_and_large_embeddings_overflow_nowhere(dtype, scale):
    params = tiny_decoder(tied=False, dtype=dtype)
    params = {**params, "embedding": params["embedding"] * scale}
    loss, grads = loss_and_gradients(IDS, TARGETS, params, n_heads=4)
    assert math.isfinite(loss)
    assert {g.dtype for g in flatten(grads).values()} == {np.dtype(dtype)}
    assert all(np.isfinite(g).all() for g in flatten(grads).values())


def test_nothing_writes_into_its_arguments():
    params = tiny_decoder(tied=True)
    for array in flatten(params).values():
        array.flags.writeable = False  # a write would raise
    logits, cache = decoder_forward(IDS, params, n_heads=4)
    logits.flags.writeable = False
    first, second = (decoder_backward(logits, cache) for _ in range(2))
    assert all(
        a.tolist() == b.tolist()
        for a, b in zip(flatten(first).values(), flatten(second).values(), strict=True)
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda p: decoder_forward(np.array([0, 7]), p, 4),
            r"ids must lie in the vocabulary, 0 to V-1 = 6: got 0 to 7",
        ),
        (
            lambda p: decoder_forward(np.zeros((2, 5), int), p, 4, context=4),
            r"T must be at most the model's context of 4 tokens: got T=5",
        ),
        (
            lambda p: loss_and_gradients(IDS, IDS[:1], p, 4),
            r"targets must have shape \(2, 3\): got \(1, 3\)",
        ),
        (
            lambda p: decoder_backward(np.ones((2, 3, 8)), decoder_forward(IDS, p, 4)[1]),
            r"dlogits must have shape \(2, 3, 7\): got \(2, 3, 8\)",
        ),
        (
            lambda p: decoder_forward(IDS, p, 3),
            r"n_heads .*got .*",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call(tiny_decoder(tied=True))


def test_a_sequence_as_long_as_the_context_still_fits():
    logits, _ = decoder_forward(np.zeros(4, int), tiny_decoder(tied=True), 4, context=4)
    assert logits.shape == (4, 7)
