"""The same generation, faster: equal tokens to `transformer_block.generate`, for one sequence.

Read `generate.py` and `step.py` first; nothing new is computed here. A new token is one row, and
one row times a matrix is soon done: what takes the time is to fetch the matrix from memory. The
rest, some hundred small calls a block, would take as long again, so here they are few:

- Shapes are checked once, when the prompt is read.
- Keys and values have their place from the start; a token is written in, and nothing is copied.
- The angles of RoPE are worked out once a token and not twice a block; a pair of features is one
  complex number, and a turn one product.
- Queries that share a key/value head are rows of one small matrix, so that no key is repeated.
"""

import math

import numpy as np

from transformer_block._require import require_context
from transformer_block.generate import choose_token, decoder_step
from transformer_block.rope import rope_angles


def fast_generate(
    ids, params, n_heads, n_new, rope_base=10_000.0, eps=1e-5, context=None, **choice
):
    """Continue one prefix, as `generate` does, in less time.

    Parameters
    ----------
    ids : ndarray of int, shape (T,)
        The prefix.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
    n_new : int
        How many tokens to add.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.
    context : int, optional
        The largest number of tokens that the model was made for; ``None`` sets no limit.
    **choice
        ``rng``, ``temperature``, ``top_k`` and ``top_p`` of `choose_token`.

    Returns
    -------
    out : ndarray of int
        The prefix and what follows, of shape (T + n_new,).

    Raises
    ------
    ValueError
        As in `generate`, or if there are several prefixes, or weights in half precision.
    """
    ids = np.asarray(ids)
    steps = fast_generate_steps(ids, params, n_heads, n_new, rope_base, eps, context, **choice)
    return np.concatenate([ids, np.array(list(steps), dtype=np.int64)])  # (T + n_new,)


def fast_generate_steps(
    ids, params, n_heads, n_new, rope_base=10_000.0, eps=1e-5, context=None, **choice
):
    """Yield up to n_new tokens, as `generate_steps` does, in less time.

    Parameters
    ----------
    ids : ndarray of int, shape (T,)
        The prefix.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
    n_new : int
        The largest number of tokens to add: so much room is made for keys and values.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.
    context : int, optional
        The largest number of tokens that the model was made for; ``None`` sets no limit.
    **choice
        ``rng``, ``temperature``, ``top_k`` and ``top_p`` of `choose_token`.

    Yields
    ------
    chosen : int
        The next token.

    Raises
    ------
    ValueError
        As in `generate`, or if there are several prefixes, or weights in half precision.
    """
    if np.ndim(ids) != 1:
        raise ValueError(f"ids must have shape (T,): got {np.shape(ids)}")
    dtype = params["embedding"].dtype
    if dtype not in (np.float32, np.float64):  # a pair must be a complex number
        raise ValueError(f"params must be in float32 or float64: got {dtype}")
    require_context(len(ids) + n_new, context)
    if not n_new:
        return
    logits, past = decoder_step(ids, params, n_heads, None, rope_base, eps)
    kept = [_with_room(k, v, n_new) for k, v in past]
    angles = rope_angles(np.arange(len(ids), len(ids) + n_new), past[0][0].shape[-1], rope_base)
    turns = np.exp(1j * angles).astype(np.result_type(dtype, np.complex64))  # (n_new, K/2)
    for t, turn in enumerate(turns[:-1], start=len(ids)):
        chosen = choose_token(logits, **choice)
        yield int(chosen)
        logits = _logits(chosen, params, n_heads, kept, t, turn, eps)
    yield int(choose_token(logits, **choice))


def _with_room(k, v, n_new):
    """Copy keys and values into arrays with room for n_new more tokens."""
    H_kv, T, K = k.shape
    both = np.zeros((2, H_kv, T + n_new, K), k.dtype)
    both[0, :, :T], both[1, :, :T] = k, v
    return both


def _logits(token, params, n_heads, kept, t, turn, eps):
    """Run the token at place t through the stack; write its keys and values into ``kept``."""
    x = params["embedding"][token]  # (d,)
    for block, both in zip(params["blocks"], kept, strict=True):
        x = x + _attend(_norm(x, block["attn_norm"], eps), block, n_heads, both, t, turn)
        x = x + _feed(_norm(x, block["ffn_norm"], eps), block)
    out = _norm(x, params["final_norm"], eps)
    return out @ params.get("head", params["embedding"]).T  # (V,)


def _norm(x, weight, eps):
    """Give what `rmsnorm_forward` gives for one row."""
    return x * x.dtype.type(1 / math.sqrt(float(x @ x) / len(x) + eps)) * weight


def _attend(x, block, n_heads, both, t, turn):
    """Give what `causal_self_attention_step` gives for one row."""
    _, H_kv, _, K = both.shape
    q = ((x @ block["W_q"]).view(turn.dtype).reshape(-1, K // 2) * turn).view(x.dtype)  # (H, K)
    k = ((x @ block["W_k"]).view(turn.dtype).reshape(-1, K // 2) * turn).view(x.dtype)
    both[0, :, t], both[1, :, t] = k, (x @ block["W_v"]).reshape(H_kv, K)
    keys, values = both[:, :, : t + 1]  # (H_kv, S, K)
    grouped = q.reshape(H_kv, n_heads // H_kv, K) * x.dtype.type(1 / math.sqrt(K))
    weights = grouped @ keys.swapaxes(-1, -2)  # (H_kv, H/H_kv, S)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ values).reshape(-1) @ block["W_o"]  # (d,)


def _feed(x, block):
    """Give what `swiglu_forward` gives for one row."""
    gate = x @ block["W_gate"]  # (h,)
    with np.errstate(over="ignore"):  # exp(1e4) is inf, and x / inf the 0 that is wanted
        gate /= 1 + np.exp(-gate)
    gate *= x @ block["W_up"]
    return gate @ block["W_down"]  # (d,)
