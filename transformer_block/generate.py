"""Writing on: the stack on the prefix, a choice among the next tokens, and again."""

from itertools import islice

import numpy as np

from transformer_block._require import require_context
from transformer_block.embedding import embedding_forward, logits_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.softmax import softmax
from transformer_block.step import transformer_block_step


def decoder_step(ids, params, n_heads, past=None, rope_base=10_000.0, eps=1e-5):
    """Run new tokens through the stack, with the keys and values of the old ones kept.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        Only the new tokens: the whole prefix at first, then one at a time.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
    past : list, optional
        One ``(k, v)`` per block, from the step before; ``None`` at the start.
    rope_base : float
        As in `rope_angles`.
    eps : float
        As in `rmsnorm_forward`, for every norm.

    Returns
    -------
    logits : ndarray, shape (..., V)
        The scores of the token after the last one, as `decoder_forward` over old and new tokens
        gives them at its last position.
    past : list
        One ``(k, v)`` per block, of old and new tokens.

    Raises
    ------
    ValueError
        If there is no new token, an id lies outside the vocabulary, or a weight is missing or
        has the wrong shape.
    """
    if not ids.shape[-1]:
        raise ValueError("ids must hold at least one new token: got T=0")
    x, _ = embedding_forward(ids, params["embedding"])  # (..., T, d)
    kept = []
    for block, old in zip(params["blocks"], past or [None] * len(params["blocks"]), strict=True):
        x, keys_and_values = transformer_block_step(x, block, n_heads, old, rope_base, eps)
        kept.append(keys_and_values)
    last, _ = rmsnorm_forward(x[..., -1, :], params["final_norm"], eps)  # (..., d)
    logits, _ = logits_forward(last, params.get("head", params["embedding"]))  # (..., V)
    return logits, kept


def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=1.0):
    """Turn logits into the probabilities to draw from, after temperature, top-k and top-p.

    Parameters
    ----------
    logits : ndarray of float, shape (..., V)
        Scores of the next token.
    temperature : float
        Divides the logits: below 1 the likely become likelier, above 1 less so.
    top_k : int, optional
        Only so many of the likeliest tokens stay; ``None`` keeps all.
    top_p : float
        Only the smallest set of likeliest tokens stays that has this much probability together,
        and never less than one token.

    Returns
    -------
    probabilities : ndarray, shape (..., V)
        They sum to one over the tokens that stay and are exactly zero elsewhere; in the dtype
        of ``logits``.

    Raises
    ------
    ValueError
        If the temperature is not positive, ``top_k`` is below 1, or ``top_p`` is not above 0
        and up to 1.

    Notes
    -----
    Of equally likely tokens the one with the smaller id comes first. Source of top-p: Holtzman
    et al. 2020, The Curious Case of Neural Text Degeneration.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive: got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be 1 or more: got {top_k}")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1: got {top_p}")
    order = np.argsort(-logits, axis=-1, kind="stable")  # likeliest first
    ranked = np.take_along_axis(logits, order, axis=-1)
    wide = ranked.astype(np.result_type(ranked, np.float32), copy=False)
    # Taking the largest away before the division keeps a small temperature from overflowing.
    p = softmax((wide - wide[..., :1]) / temperature)
    p[..., top_k or p.shape[-1] :] = 0.0
    p /= np.sum(p, axis=-1, keepdims=True)
    p[np.cumsum(p, axis=-1) - p >= top_p] = 0.0  # the likelier ones have enough already
    p /= np.sum(p, axis=-1, keepdims=True)
    probabilities = np.empty_like(logits)
    np.put_along_axis(probabilities, order, p.astype(logits.dtype), axis=-1)
    return probabilities


def choose_token(logits, rng=None, temperature=0.0, top_k=None, top_p=1.0):
    """Pick the likeliest next token, or draw one.

    Parameters
    ----------
    logits : ndarray of float, shape (..., V)
        Scores of the next token.
    rng : numpy.random.Generator, optional
        Draws; needed at any temperature but zero.
    temperature : float
        Zero takes the likeliest token, the first of several; else as in
        `next_token_probabilities`.
    top_k : int, optional
        As in `next_token_probabilities`.
    top_p : float
        As in `next_token_probabilities`.

    Returns
    -------
    ids : ndarray of int, shape (...)
        One token for each row of logits.

    Raises
    ------
    ValueError
        If there is something to draw but no ``rng``, or as in `next_token_probabilities`.
    """
    if temperature == 0:
        return np.argmax(logits, axis=-1)
    if rng is None:
        raise ValueError(
            "drawing a token needs rng: give np.random.default_rng(seed), or temperature=0"
        )
    p = next_token_probabilities(logits, temperature, top_k, top_p)
    reached = np.cumsum(p, axis=-1, dtype=np.float64)
    mark = rng.random(p.shape[:-1])[..., None] * reached[..., -1:]  # (..., 1)
    return np.sum(reached <= mark, axis=-1)  # the first token whose share reaches past the mark


def generate_steps(ids, params, n_heads, rope_base=10_000.0, eps=1e-5, context=None, **choice):
    """Yield one new token after another, for as long as somebody asks.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        The prefix; with leading axes, several of the same length.
    params : dict
        As in `decoder_forward`.
    n_heads : int
        H, the number of query heads of every block.
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
    chosen : ndarray of int, shape (...)
        The next token of each prefix.

    Raises
    ------
    ValueError
        If prefix and new tokens together pass ``context``, or as in `decoder_step` and
        `choose_token`.
    """
    T, past, new = ids.shape[-1], None, ids
    while True:
        T += 1
        require_context(T, context)
        logits, past = decoder_step(new, params, n_heads, past, rope_base, eps)
        chosen = choose_token(logits, **choice)
        yield chosen
        new = chosen[..., None]  # (..., 1)


def generate(ids, params, n_heads, n_new, rope_base=10_000.0, eps=1e-5, context=None, **choice):
    """Continue a prefix by so many tokens.

    Parameters
    ----------
    ids : ndarray of int, shape (..., T)
        The prefix; with leading axes, several of the same length.
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
        ``rng``, ``temperature``, ``top_k`` and ``top_p`` of `choose_token`; without them the
        likeliest token is taken each time.

    Returns
    -------
    out : ndarray of int
        The prefix and what follows, of shape (..., T + n_new).

    Raises
    ------
    ValueError
        As in `generate_steps`; for a text that would be too long, before any work is done.
    """
    ids = np.asarray(ids)
    require_context(ids.shape[-1] + n_new, context)
    steps = generate_steps(ids, params, n_heads, rope_base, eps, context, **choice)
    new = [chosen[..., None] for chosen in islice(steps, n_new)]
    return np.concatenate([ids, *new], axis=-1)  # (..., T + n_new)
