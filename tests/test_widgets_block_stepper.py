"""The block stepper's Python side: what it accepts, and its arrays beside those of the library."""

import re

import numpy as np
import pytest
import traitlets
from test_widgets import node

from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.gradcheck import numerical_gradient
from transformer_block.widgets import BlockStepper
from transformer_block.widgets._block_walk import listings, statement
from transformer_block.widgets.block_stepper import STEPS, example, streams, values_of


def arrays_of(stepper):
    """Cut the bytes into arrays, as the browser does."""
    sizes = [int(np.prod(shape)) for _, shape in stepper.shapes]
    cut = np.split(np.frombuffer(stepper.values, np.float32), np.cumsum(sizes)[:-1])
    return {name: a.reshape(shape) for (name, shape), a in zip(stepper.shapes, cut, strict=True)}


def own_block(rng, T=4, d=5, K=2, h=7, n_heads=4, n_kv_heads=2):
    """Draw a block with shared keys and no two sizes alike."""
    shapes = {"W_q": (d, n_heads * K), "W_k": (d, n_kv_heads * K), "W_v": (d, n_kv_heads * K),
              "W_o": (n_heads * K, d), "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d),
              "attn_norm": (d,), "ffn_norm": (d,)}  # fmt: skip
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, dout = rng.normal(size=(2, T, d))
    return {"x": x, "params": params, "n_heads": n_heads, "dout": dout}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"step": 29}, "step must be a whole number from 0 to 28: got 29"),
        ({"x": np.ones((3, 5))}, r"x must have shape \(1 to 4, 4\): got \(3, 5\)"),
        ({"x": np.ones((5, 4))}, r"x must have shape \(1 to 4, 4\): got \(5, 4\)"),
        ({"x": [[1, 2, 3, np.nan]]}, "x must be finite"),
        ({"x": "a stream"}, "x must be an array of numbers: got 'a stream'"),
        ({"dout": np.ones((2, 4))}, r"dout must have shape \(3, 4\): got \(2, 4\)"),
        ({"n_heads": 3}, "n_heads must divide the width of W_q: got 4, n_heads=3"),
        ({"params": {}}, "params must hold W_q, .*: W_q is missing"),
        ({"params": 3}, "expected a Mapping or None"),
        ({"params": example() | {"W_up": np.ones((4, 5))}}, r"W_up must have shape .*\(4, 5\)"),
        ({"params": example() | {"W_up": np.ones((4, 9))}}, "W_up must have no axis longer than 8"),
    ],
)
def test_what_the_stepper_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        BlockStepper(**wrong)


@pytest.mark.parametrize("own", [{}, own_block(np.random.default_rng(1))])
def test_the_arrays_are_those_of_the_block(own):
    stepper = BlockStepper(**own)
    got = arrays_of(stepper)
    params = own.get("params", example())
    out, cache = transformer_block_forward(got["x"].astype(float), params, stepper.n_heads)
    dx, grads = transformer_block_backward(got["dout"].astype(float), cache)
    wanted = {"out": out, "residual": cache[2], "dx": dx}
    wanted |= {f"d{name}": gradient for name, gradient in grads.items()}
    for name, array in wanted.items():
        np.testing.assert_allclose(got[name], array, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("own", [{}, own_block(np.random.default_rng(2))])
def test_every_sum_that_is_shown_comes_out(own):
    got = arrays_of(BlockStepper(**own))
    sums = {
        "residual": ["x", "attended"],
        "out": ["residual", "fed"],
        "dnormed2": ["from_gate", "from_up"],
        "dresidual": ["dout", "dbranch2"],
        "dnormed1": ["from_q", "from_k", "from_v"],
        "dx": ["dresidual", "dbranch1"],
    }
    for whole, parts in sums.items():
        total = sum(got[part] for part in parts)
        np.testing.assert_allclose(got[whole], total, atol=2e-5, err_msg=whole)


def test_every_gradient_on_the_way_is_the_slope_of_the_rest_of_the_block():
    """The oracle: move an array on the way, run what is left of the block, and look at the loss."""
    own = own_block(np.random.default_rng(3))
    v = values_of(**own)
    p, dout = own["params"], own["dout"]

    def silu(z):
        return z / (1 + np.exp(-z))

    def norm(rows, gain):
        return gain * rows / np.sqrt(np.mean(rows**2, axis=-1, keepdims=True) + 1e-5)

    def up_from(hidden=None, gate=v["gate"], up=v["up"]):
        hidden = silu(gate) * up if hidden is None else hidden
        return np.sum(dout * (v["residual"] + hidden @ p["W_down"]))

    def from_merged(merged):
        u = v["x"] + merged @ p["W_o"]
        m = norm(u, p["ffn_norm"])
        return np.sum(dout * (u + (silu(m @ p["W_gate"]) * (m @ p["W_up"])) @ p["W_down"]))

    def attend(q=v["q_turned"], k=v["k_turned"], values=v["v"], scores=None, weights=None):
        share = lambda heads: np.repeat(heads, 2, axis=0)  # noqa: E731
        if scores is None:
            scores = q @ share(k).transpose(0, 2, 1) / np.sqrt(2)
        if weights is None:
            weights = np.exp(np.where(np.tri(4, dtype=bool), scores, -np.inf))
            weights /= weights.sum(axis=-1, keepdims=True)
        mixed = weights @ share(values)
        return from_merged(mixed.transpose(1, 0, 2).reshape(4, 8))

    rest = {
        "hidden": lambda a: up_from(hidden=a),
        "gate": lambda a: up_from(gate=a),
        "up": lambda a: up_from(up=a),
        "q_turned": lambda a: attend(q=a),
        "k_turned": lambda a: attend(k=a),
        "v": lambda a: attend(values=a),
        "weights": lambda a: attend(weights=a),
    }
    for name, loss in rest.items():
        slope = numerical_gradient(loss, v[name])
        np.testing.assert_allclose(v[f"d{name}"], slope, atol=1e-7, err_msg=name)
    finite = np.where(np.isfinite(v["scores"]), v["scores"], 0)
    slope = numerical_gradient(lambda a: attend(scores=a), finite)
    np.testing.assert_allclose(v["dscores"], slope, atol=1e-7)


def test_rope_lies_between_the_two_forms_of_queries_and_keys():
    v = values_of(**own_block(np.random.default_rng(4)))
    for name in ("q", "k", "dq", "dk"):
        lengths = [np.linalg.norm(v[n], axis=-1) for n in (name, f"{name}_turned")]
        np.testing.assert_allclose(*lengths, rtol=1e-12)
        np.testing.assert_allclose(v[name][:, 0], v[f"{name}_turned"][:, 0], rtol=1e-12)
        assert not np.allclose(v[name][:, 1], v[f"{name}_turned"][:, 1])


def test_a_stream_of_ones_own_comes_alone_or_with_weights():
    stepper = BlockStepper(x=[[1.0, 2.0, 3.0, 4.0]])
    assert arrays_of(stepper)["x"].shape == arrays_of(stepper)["dx"].shape == (1, 4)
    own = own_block(np.random.default_rng(5))
    with stepper.hold_trait_notifications():
        for name, value in own.items():
            setattr(stepper, name, value)
    np.testing.assert_allclose(arrays_of(stepper)["x"], own["x"], rtol=1e-6)


def test_what_does_not_fit_leaves_the_picture_as_it_was():
    stepper = BlockStepper()
    before = stepper.values
    with pytest.raises(traitlets.TraitError):
        stepper.x = np.ones((3, 7))
    assert stepper.x is None
    assert stepper.values == before


def test_what_is_handed_in_is_not_changed_and_the_example_stays():
    own = own_block(np.random.default_rng(6))
    kept = own["x"].copy()
    BlockStepper(**own)
    np.testing.assert_array_equal(own["x"], kept)
    assert streams(4).shape == (2, 4, 4)


def test_the_pages_walk_is_one_that_can_be_followed():
    """Numbers of a size that two decimals show, and no row of weights that says nothing."""
    v = values_of(None, None, 2, None)
    finite = [a[np.isfinite(a)] for a in v.values()]
    assert max(np.max(np.abs(a)) for a in finite) < 10
    assert min(np.max(np.abs(a)) for a in finite) > 0.1
    assert np.all(v["weights"][:, 1:].max(axis=-1) < 0.995)


def test_python_and_javascript_know_the_same_steps():
    script = (
        "import { STEPS } from './transformer_block/widgets/block_stepper_steps.js';"
        "console.log(STEPS.map(({ id }) => id).join(' '))"
    )
    assert node("--input-type=module", "-e", script).split() == list(STEPS)


def test_every_line_is_the_sources():
    text = listings()
    for step, (way, first, last, file, within) in STEPS.items():
        marked = text[way].splitlines()[first : last + 1]
        assert marked and not marked[0].startswith((" ", "#")), step
        assert bool(file) == bool(within)
    assert re.search(r"^residual = x \+ attended$", text["forward"], re.MULTILINE)
    assert STEPS["join2"][1] == text["backward"].splitlines().index("dresidual = dout + dbranch")


def test_a_statement_that_is_not_there_is_missed():
    with pytest.raises(LookupError, match="must have one statement 'residuum ='"):
        statement(transformer_block_forward, "residuum =")
