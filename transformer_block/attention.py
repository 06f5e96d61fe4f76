"""Causal self-attention with RoPE and grouped queries, forward and backward."""

import math

import numpy as np

from transformer_block._require import require_heads, require_shape
from transformer_block.heads import (
    merge_heads,
    repeat_heads,
    repeat_heads_backward,
    split_heads,
)
from transformer_block.linear import weight_gradient
from transformer_block.rope import rope_backward, rope_forward
from transformer_block.softmax import softmax, softmax_backward


def causal_mask(T, S):
    """Tell which of S keys each of the last T queries may see: itself and what came before.

    Parameters
    ----------
    T : int
        The number of queries: the last T of the S tokens.
    S : int
        The number of keys, T or more.

    Returns
    -------
    mask : ndarray of bool, shape (T, S)
        True where query t may see key s: the triangle ends in the bottom right corner, so
        that the last query sees every key.

    Raises
    ------
    ValueError
        If there are more queries than keys.
    """
    if T > S:
        raise ValueError(f"queries must not outnumber keys: got T={T} queries, S={S} keys")
    return np.tri(T, S, k=S - T, dtype=bool)


def causal_attention_forward(q, k, v):
    """Mix the values of the tokens that each query may see, weighted by how well keys match.

    Parameters
    ----------
    q : ndarray of float, shape (..., H, T, K)
        Queries of the last T of S tokens.
    k : ndarray of float, shape (..., H_kv, S, K)
        Keys; each head serves H / H_kv query heads.
    v : ndarray of float, shape (..., H_kv, S, K)
        Values.

    Returns
    -------
    out : ndarray, shape (..., H, T, K)
        One weighted mean of values for each query.
    cache : tuple
        ``(q, k, v, weights)``; ``weights`` has shape (..., H, T, S).

    Raises
    ------
    ValueError
        If the shapes do not fit each other.
    """
    H, T, K = q.shape[-3:]
    mask = causal_mask(T, k.shape[-2])  # (T, S)
    keys, values = repeat_heads(k, H), repeat_heads(v, H)  # (..., H, S, K)
    scores = q @ keys.swapaxes(-1, -2) / math.sqrt(K)  # (..., H, T, S)
    weights = softmax(np.where(mask, scores, -np.inf))
    return weights @ values, (q, k, v, weights)


def causal_attention_backward(dout, cache):
    """Send a gradient back through the mixing, the softmax and the scores.

    Parameters
    ----------
    dout : ndarray of float, shape (..., H, T, K)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(q, k, v, weights)`` from `causal_attention_forward`.

    Returns
    -------
    dq : ndarray, shape (..., H, T, K)
        Gradient with respect to the queries.
    dk : ndarray, shape (..., H_kv, S, K)
        Gradient with respect to the keys, summed over the queries that share a head.
    dv : ndarray, shape (..., H_kv, S, K)
        Gradient with respect to the values, summed likewise.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``q``.

    Notes
    -----
    The mask needs no step of its own: where it hid a key the weight is zero, and the softmax
    gives a score of weight zero no gradient.
    """
    q, k, v, weights = cache
    require_shape("dout", dout, q.shape)
    H, _, K = q.shape[-3:]
    keys, values = repeat_heads(k, H), repeat_heads(v, H)  # (..., H, S, K)
    dvalues = weights.swapaxes(-1, -2) @ dout  # (..., H, S, K)
    dscores = softmax_backward(dout @ values.swapaxes(-1, -2), weights)  # (..., H, T, S)
    dscores /= math.sqrt(K)
    dq = dscores @ keys  # (..., H, T, K)
    dkeys = dscores.swapaxes(-1, -2) @ q  # (..., H, S, K)
    n_kv_heads = k.shape[-3]
    return (
        dq,
        repeat_heads_backward(dkeys, n_kv_heads),
        repeat_heads_backward(dvalues, n_kv_heads),
    )


def causal_self_attention_forward(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Let every token gather values from itself and the tokens before it.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        One row for each token.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d), in the
        dtype of ``x``.
    n_heads : int
        H, the number of query heads; that of key/value heads follows from ``W_k``.
    rope_base : float
        As in `rope_angles`.
    positions : ndarray of int, shape (T,), optional
        The place of each token; ``None`` means 0, 1, …, T - 1.

    Returns
    -------
    out : ndarray, shape (..., T, d)
        What attention writes into the stream of each token, in the dtype of ``x``.
    cache : tuple
        ``(x, params, turn, attention, merged)``: the caches of RoPE and of
        `causal_attention_forward`, and the heads' outputs side by side.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape, or the heads do not come out even.
    """
    q, k, v, turn = project_heads(x, params, n_heads, rope_base, positions)
    mixed, attention = causal_attention_forward(q, k, v)
    merged = merge_heads(mixed)  # (..., T, H·K)
    return merged @ params["W_o"], (x, params, turn, attention, merged)


def causal_self_attention_backward(dout, cache):
    """Send a gradient back through attention to its input and its four matrices.

    Parameters
    ----------
    dout : ndarray of float, shape (..., T, d)
        Gradient of the loss with respect to ``out``.
    cache : tuple
        ``(x, params, turn, attention, merged)`` from `causal_self_attention_forward`.

    Returns
    -------
    dx : ndarray, shape (..., T, d)
        Gradient with respect to ``x``: the sum of what came through queries, keys and values.
    grads : dict
        ``W_q``, ``W_k``, ``W_v``, ``W_o``: gradients of the weights, summed over all tokens.

    Raises
    ------
    ValueError
        If ``dout`` does not have the shape of ``x``.
    """
    x, params, turn, attention, merged = cache
    require_shape("dout", dout, x.shape)
    n_heads = attention[0].shape[-3]
    dmixed = split_heads(dout @ params["W_o"].T, n_heads)  # (..., H, T, K)
    dq, dk, dv = causal_attention_backward(dmixed, attention)
    dprojected = {
        "W_q": merge_heads(rope_backward(dq, turn)),  # (..., T, H·K)
        "W_k": merge_heads(rope_backward(dk, turn)),  # (..., T, H_kv·K)
        "W_v": merge_heads(dv),
    }
    dx = sum(dp @ params[name].T for name, dp in dprojected.items())  # (..., T, d)
    grads = {name: weight_gradient(x, dp) for name, dp in dprojected.items()}
    grads["W_o"] = weight_gradient(merged, dout)
    return dx, grads


def project_heads(x, params, n_heads, rope_base=10_000.0, positions=None):
    """Make the queries, keys and values of each head, positions turned into the first two.

    Parameters
    ----------
    x : ndarray of float, shape (..., T, d)
        One row for each token.
    params : dict
        ``W_q`` (d, H·K), ``W_k`` (d, H_kv·K), ``W_v`` (d, H_kv·K), ``W_o`` (H·K, d), in the
        dtype of ``x``.
    n_heads : int
        H, the number of query heads.
    rope_base : float
        As in `rope_angles`.
    positions : ndarray of int, shape (T,), optional
        The place of each token; ``None`` means 0, 1, …, T - 1.

    Returns
    -------
    q : ndarray, shape (..., H, T, K)
        Queries.
    k : ndarray, shape (..., H_kv, T, K)
        Keys.
    v : ndarray, shape (..., H_kv, T, K)
        Values.
    turn : tuple
        The cache of `rope_forward`, which serves queries and keys.

    Raises
    ------
    ValueError
        If a weight is missing or has the wrong shape, or the heads do not come out even.
    """
    n_kv_heads = require_heads(x, params, n_heads)
    q = split_heads(x @ params["W_q"], n_heads)  # (..., H, T, K)
    k = split_heads(x @ params["W_k"], n_kv_heads)  # (..., H_kv, T, K)
    v = split_heads(x @ params["W_v"], n_kv_heads)
    q, turn = rope_forward(q, positions, rope_base)
    k, _ = rope_forward(k, positions, rope_base)
    return q, k, v, turn
