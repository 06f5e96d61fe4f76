"""Inputs of this sheet: models of a few blocks, and blocks as GPT-2 has them."""

import numpy as np

from grader.checks.block.inputs import block
from grader.checks.engine import witness

HEADS = ((2, 6), (3, 4), (2, 4))  # n_heads, K
HIDDEN = (17, 19, 23)
GROUPS = ((4, 2), (6, 2), (6, 3), (9, 3), (5, 1))  # H, H_kv
VOCABULARY = (29, 31, 37)


def old_block(rng, *, leading=(), T=5, heads=None):
    """Draw rows of tokens and the sixteen weights of a GPT-2 block."""
    n_heads, K = heads or HEADS[rng.integers(len(HEADS))]
    d, h = n_heads * K, int(rng.choice(HIDDEN))
    shapes = {"q": (d, d), "k": (d, d), "v": (d, d), "o": (d, d), "1": (d, h), "2": (h, d)}
    params = {f"W_{n}": rng.normal(size=s) * 1.2 / s[0] ** 0.5 for n, s in shapes.items()}
    params |= {f"b_{n}": rng.normal(size=s[1]) for n, s in shapes.items()}
    for name in ("attn_norm", "ffn_norm"):
        params |= {name: witness.gain(rng, d), f"{name}_bias": rng.normal(size=d)}
    return {"x": witness.rows(rng, (*leading, T, d)), "params": params, "n_heads": n_heads}


def model(rng, *, n_layers=None, head=False):
    """Draw a model of two or three blocks, or as many as asked for, and its number of heads."""
    n_layers, V = n_layers or int(rng.integers(2, 4)), int(rng.choice(VOCABULARY))
    first = block(rng)
    d, n_heads = first["x"].shape[-1], first["n_heads"]
    n_kv_heads = first["params"]["W_k"].shape[1] // 4  # heads are 4 wide
    alike = {"d": d, "heads": (n_heads, n_kv_heads), "h": first["params"]["W_gate"].shape[1]}
    more = [block(rng, **alike) for _ in range(n_layers - 1)]
    params = {
        "embedding": rng.normal(size=(V, d)),
        "blocks": [one["params"] for one in (first, *more)],
        "final_norm": witness.gain(rng, d),
    }
    if head:
        params["head"] = rng.normal(size=(V, d))
    return params, n_heads


def tokens(rng, params, T=6):
    """Draw token ids, of which one comes twice."""
    ids = rng.choice(len(params["embedding"]), size=T, replace=False)
    ids[1] = ids[0]
    return np.asarray(ids)
