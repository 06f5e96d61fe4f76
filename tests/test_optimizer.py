"""AdamW, its schedule and clipping against PyTorch's stored steps."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from transformer_block._trees import flatten
from transformer_block.optimizer import (
    adamw_start,
    adamw_update,
    clip_gradients,
    global_norm,
    warmup_cosine,
)

STORED = json.loads((Path(__file__).parent / "data" / "torch_optimizer.json").read_text())
FLOOR = 0.02  # the last rate of the stored steps


def arrays(stored):
    return {name: np.array(value) for name, value in stored.items()}


def test_seven_steps_of_adamw_land_where_those_of_pytorch_land():
    params = arrays(STORED["start"])
    state = adamw_start(params)
    for step in STORED["steps"]:
        grads = arrays(step["clipped"])
        params, state = adamw_update(
            params, grads, state, step["rate"], betas=(0.8, 0.95), eps=1e-6, weight_decay=0.3
        )
        for name, want in arrays(step["params"]).items():
            np.testing.assert_allclose(params[name], want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("step", STORED["steps"], ids=lambda s: f"norm {s['norm']:.3g}")
def test_clipped_gradients_are_those_of_pytorch(step):
    clipped, norm = clip_gradients(arrays(step["grads"]), 1.0)
    assert norm == pytest.approx(step["norm"], rel=1e-13)
    for name, want in arrays(step["clipped"]).items():
        np.testing.assert_allclose(clipped[name], want, rtol=1e-13)


def test_the_stored_gradients_lie_on_both_sides_of_the_limit():
    norms = [step["norm"] for step in STORED["steps"]]
    assert min(norms) < 1.0 < max(norms)


@pytest.mark.parametrize("step", range(7))
def test_the_rate_is_that_of_pytorch_s_linear_and_cosine_schedules(step):
    rate = warmup_cosine(step, STORED["peak"], STORED["n_warmup"], STORED["n_steps"], FLOOR)
    assert rate == pytest.approx(STORED["steps"][step]["rate"], rel=1e-12)


def test_the_rate_stays_on_its_floor_after_the_last_step():
    assert warmup_cosine(100, 1.0, 5, 20, floor=0.1) == warmup_cosine(20, 1.0, 5, 20, 0.1) == 0.1


def test_matrices_decay_and_gains_do_not():
    params = {"W": np.full((2, 3), 5.0), "g": np.full(3, 5.0)}
    still = {name: np.zeros_like(p) for name, p in params.items()}
    moved, _ = adamw_update(params, still, adamw_start(params), rate=0.1, weight_decay=0.2)
    np.testing.assert_allclose(moved["W"], 4.9, rtol=1e-15)
    assert moved["g"].tolist() == params["g"].tolist()


def test_the_first_step_has_the_size_of_the_rate_whatever_the_gradient():
    params = {"g": np.zeros(3)}
    grads = {"g": np.array([1e-3, -1.0, 1e3])}
    moved, _ = adamw_update(params, grads, adamw_start(params), rate=0.01)
    np.testing.assert_allclose(moved["g"], [-0.01, 0.01, -0.01], rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_written_into_and_the_dtype_stays(dtype):
    params = {"blocks": [{"W": np.ones((2, 3), dtype)}, {"W": np.ones((2, 3), dtype)}]}
    grads = {"blocks": [{"W": np.full((2, 3), 1e4, dtype)}, {"W": np.ones((2, 3), dtype)}]}
    state = adamw_start(params)
    held = [*flatten(params).values(), *flatten(grads).values()]
    held += [*flatten(state["mean"]).values(), *flatten(state["square"]).values()]
    for array in held:
        array.flags.writeable = False  # a write would raise
    clipped, _ = clip_gradients(grads, 1.0)
    moved, after = adamw_update(params, clipped, state, 0.1)
    made = [*flatten(moved).values(), *flatten(clipped).values(), *flatten(after["mean"]).values()]
    assert {array.dtype for array in made} == {np.dtype(dtype)}
    assert state["step"] == 0
    assert after["step"] == 1


def test_a_norm_beyond_the_range_of_float32_squares_is_still_a_number():
    assert global_norm({"a": np.full(4, 1e30, np.float32)}) == pytest.approx(2e30, rel=1e-6)


def test_zero_gradients_stay_zero():
    clipped, norm = clip_gradients({"a": np.zeros(3)}, 1.0)
    assert norm == 0.0
    assert not clipped["a"].any()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: clip_gradients({"a": np.ones(2)}, 0.0),
            r"max_norm must be positive: got 0\.0",
        ),
        (
            lambda: warmup_cosine(0, 1.0, 5, 5),
            r"n_warmup must lie from 0 to n_steps-1 = 4: got 5",
        ),
        (
            lambda: clip_gradients({"a": np.array([math.nan])}, 1.0),
            r"gradients must be finite: got a norm of nan",
        ),
    ],
)
def test_bad_input_is_told_with_what_was_wanted_and_what_came(call, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        call()
