"""Initialisation: one seed, one model, and writes that do not grow with the depth of the stack."""

import numpy as np
import pytest

from transformer_block._trees import flatten
from transformer_block.config import llama_config, published_models
from transformer_block.counting import total_parameters
from transformer_block.initialise import initialise_decoder
from transformer_block.traces import trace_decoder

WRITERS = ("W_o", "W_down")


def shape(n_layers=3, tied="tied"):
    return llama_config(d=48, n_layers=n_layers, n_heads=6, n_kv_heads=2, h=131, V=97, tied=tied)


@pytest.mark.parametrize("tied", ["tied", "untied"])
def test_the_arrays_are_as_many_numbers_as_counting_says(tied):
    params = initialise_decoder(shape(tied=tied), np.random.default_rng(0))
    counted = total_parameters(shape(tied=tied))
    assert sum(array.size for array in flatten(params).values()) == counted


def test_one_seed_gives_one_model():
    first, second, other = (
        flatten(initialise_decoder(shape(), np.random.default_rng(s))) for s in (1, 1, 2)
    )
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not any(np.array_equal(first[name], other[name]) for name in first if "W_" in name)


def test_matrices_have_their_spread_and_gains_are_one():
    for name, array in flatten(initialise_decoder(shape(), np.random.default_rng(0))).items():
        last = name.split(".")[-1]
        if array.ndim == 1:
            assert (array == 1).all()
        else:
            want = 0.02 / np.sqrt(6) if last in WRITERS else 0.02
            assert np.std(array) == pytest.approx(want, rel=0.05)
            assert abs(np.mean(array)) < 4 * want / np.sqrt(array.size)


def writes_of(n_layers, undone):
    """Measure all writes together at the start, with or without the scaling of the writers."""
    config = shape(n_layers)
    params = initialise_decoder(config, np.random.default_rng(0))
    factor = np.float32(np.sqrt(2 * n_layers)) if undone else np.float32(1)
    blocks = [
        {name: array * factor if name in WRITERS else array for name, array in block.items()}
        for block in params["blocks"]
    ]
    ids = np.random.default_rng(1).integers(97, size=(3, 31))
    stream = trace_decoder(ids, {**params, "blocks": blocks}, config.n_heads)["stream"]
    return np.sqrt(np.mean((stream[-1] - stream[0]) ** 2))


def test_all_writes_together_stay_as_small_in_a_deep_stack_as_in_a_shallow_one():
    assert writes_of(32, undone=False) < 1.5 * writes_of(2, undone=False)
    assert writes_of(32, undone=True) > 5 * writes_of(2, undone=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_array_has_the_dtype_asked_for(dtype):
    params = initialise_decoder(shape(tied="untied"), np.random.default_rng(0), dtype=dtype)
    assert {array.dtype for array in flatten(params).values()} == {np.dtype(dtype)}


def test_another_net_than_swiglu_is_refused():
    with pytest.raises(ValueError, match=r"^a Llama has one net .*: got mlp_matrices=2, n_experts"):
        initialise_decoder(published_models()["GPT-2 small"], np.random.default_rng(0))
