"""What the tests of the block and its parts share: PyTorch's values, and small random blocks."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from transformer_block.gradcheck import gradient_check

with np.load(Path(__file__).parent / "data" / "torch_block.npz") as stored:
    STORED = dict(stored.items())
CASES = list(dict.fromkeys(name.split(": ")[0] for name in STORED))
LEADING = [(), (2,), (2, 3)]


def torch_case(name):
    """Read one case: its inputs, its settings, and the values of each function by name."""
    found = {
        key.removeprefix(f"{name}: "): array
        for key, array in STORED.items()
        if key.startswith(f"{name}: ")
    }
    H, base, eps, first = found.pop("settings").tolist()
    values = {}
    for key in [key for key in found if " " in key]:
        function, of = key.split(" ")
        values.setdefault(function, {})[of] = found.pop(key)
    x, dout = found.pop("x"), found.pop("dout")
    return SimpleNamespace(
        x=x,
        dout=dout,
        params=found,
        heads=(int(H), base),
        eps=eps,
        positions=np.arange(int(first), int(first) + x.shape[-2]),
        values=values,
    )


def assert_near(got, want):
    """Compare to 1e-10 of the largest entry, the bound that the course states for PyTorch."""
    assert got.shape == want.shape
    assert np.max(np.abs(got - want)) <= 1e-10 * np.max(np.abs(want))


def assert_gives(values, out, dx, grads):
    """Compare output, dx and every gradient with what PyTorch found, and nothing is left out."""
    got = {"out": out, "dx": dx, **{f"d{name}": gradient for name, gradient in grads.items()}}
    assert set(got) == set(values)
    for name, array in got.items():
        assert_near(array, values[name])


def random_block(leading=(2,), T=5, d=7, h=11, H=4, H_kv=2, K=6, dtype=np.float64, seed=22):
    """Draw x, dout and the weights of one block of either net and either norm."""
    rng = np.random.default_rng(seed)
    shapes = {
        "W_q": (d, H * K), "W_k": (d, H_kv * K), "W_v": (d, H_kv * K), "W_o": (H * K, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d), "W_1": (d, h), "W_2": (h, d),
    }  # fmt: skip
    params = {n: (rng.normal(size=s) / s[0] ** 0.5).astype(dtype) for n, s in shapes.items()}
    for name in ("attn_norm", "ffn_norm", "attn_norm_bias", "ffn_norm_bias"):
        params[name] = rng.normal(size=d).astype(dtype)
    x, dout = (rng.normal(size=(*leading, T, d)).astype(dtype) for _ in range(2))
    return x, dout, params


def only(params, *names):
    """Keep the weights that a function uses."""
    return {name: params[name] for name in names}


def errors_against_differences(forward, backward, x, dout, params):
    """Check dx and every weight's gradient of a layer by finite differences."""
    _, cache = forward(x, params)
    dx, grads = backward(dout, cache)
    return gradient_check(
        lambda t: float(np.sum(dout * forward(t["x"], t)[0])),
        {**params, "x": x},
        {**grads, "x": dx},
    )


def read_only(*arrays_and_dicts):
    """Forbid writing into arrays, also inside tuples and dicts."""
    for item in arrays_and_dicts:
        if isinstance(item, np.ndarray):
            item.flags.writeable = False
        elif isinstance(item, dict):
            read_only(*item.values())
        elif isinstance(item, tuple):
            read_only(*item)


ATTENTION = ("W_q", "W_k", "W_v", "W_o")
SWIGLU = ("W_gate", "W_up", "W_down")
NORMS = ("attn_norm", "ffn_norm")
