"""The backward pass of the layer, written apart from the library, with knobs that turn it wrong."""

import numpy as np

from grader.checks.attention.formulas import (
    angles_of,
    masked_softmax,
    merge,
    repeated,
    soft_backward,
    split,
    swap,
    triangle,
    turned,
)


def summed_groups(dheads, H_kv):
    """Add up the gradients of the queries that share a head."""
    *leading, H, S, K = dheads.shape
    return dheads.reshape(*leading, H_kv, H // H_kv, S, K).sum(axis=-3)


def over_tokens(x, dout):
    """Add one outer product for each token."""
    return np.einsum("ti,tj->ij", x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1]))


def forward_parts(x, params, n_heads, rope_base, positions=None):
    """Compute what the backward pass needs, as a dict."""
    T, K = x.shape[-2], params["W_q"].shape[-1] // n_heads
    H_kv = params["W_k"].shape[-1] // K
    angles = angles_of(np.arange(T) if positions is None else positions, K, rope_base)
    q = turned(split(x @ params["W_q"], n_heads), angles)
    keys = repeated(turned(split(x @ params["W_k"], H_kv), angles), n_heads)
    values = repeated(split(x @ params["W_v"], H_kv), n_heads)
    weights = masked_softmax(q @ swap(keys) * K**-0.5, triangle(T, T))
    return {
        "x": x, "params": params, "H_kv": H_kv, "angles": angles, "q": q, "keys": keys,
        "values": values, "weights": weights, "merged": merge(weights @ values),
    }  # fmt: skip


def gradients(
    dout,
    x,
    params,
    n_heads,
    rope_base,
    positions=None,
    *,
    dmerged=lambda dout, W_o: dout @ W_o.T,
    cut=split,
    dvalues=lambda weights, dmixed: swap(weights) @ dmixed,
    through_softmax=soft_backward,
    scale=lambda H, K: K**-0.5,
    dq=lambda dscores, q, keys: dscores @ keys,
    dkeys=lambda dscores, q, keys: swap(dscores) @ q,
    gather=summed_groups,
    turn_back=lambda part, rows, angles: turned(rows, -angles),
    join=merge,
    share=over_tokens,
    paths=("W_q", "W_k", "W_v"),
    into_W_o=lambda parts: parts["merged"],
):
    """Compute all gradients by name; each knob is one line of the derivation."""
    parts = forward_parts(x, params, n_heads, rope_base, positions)
    q, keys, weights = parts["q"], parts["keys"], parts["weights"]
    dmixed = cut(dmerged(dout, params["W_o"]), n_heads)
    dscores = through_softmax(dmixed @ swap(parts["values"]), weights)
    dscores = dscores * scale(n_heads, q.shape[-1])
    dheads = {
        "W_q": turn_back("q", dq(dscores, q, keys), parts["angles"]),
        "W_k": turn_back("k", gather(dkeys(dscores, q, keys), parts["H_kv"]), parts["angles"]),
        "W_v": gather(dvalues(weights, dmixed), parts["H_kv"]),
    }
    drows = {name: join(dhead) for name, dhead in dheads.items()}
    grads = {name: share(x, drow) for name, drow in drows.items()}
    dx = sum(drows[name] @ params[name].T for name in paths)
    return {"dx": dx, **grads, "W_o": share(into_W_o(parts), dout)}
