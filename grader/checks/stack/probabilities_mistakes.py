"""Temperature, top-k and top-p by hand, with knobs that turn them wrong, and the mistakes."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from grader.checks.stack.loss_pieces import soft


def ranked(p):
    """Return the rank of each token in its row, 0 for the likeliest."""
    return np.argsort(np.argsort(-p, axis=-1, kind="stable"), axis=-1)


def keep_k(p, k):
    """Mark the k likeliest."""
    return ranked(p) < (p.shape[-1] if k is None else k)


def before(p):
    """Add up, for each token, the probability of all likelier ones."""
    order = np.argsort(-p, axis=-1, kind="stable")
    down = np.take_along_axis(p, order, axis=-1)
    sums = np.empty_like(p)
    np.put_along_axis(sums, order, np.cumsum(down, axis=-1) - down, axis=-1)
    return sums


def keep_p(p, top_p):
    """Mark the likeliest until they have top_p together."""
    return before(p) < top_p


def share(p):
    """Let a row add to one."""
    return p / np.sum(p, axis=-1, keepdims=True)


def cut(
    logits,
    temperature,
    top_k,
    top_p,
    *,
    heat=lambda z, temperature: soft(z / temperature),
    by_k=keep_k,
    by_p=keep_p,
    between=share,
    last=share,
):
    """Apply temperature, top-k and top-p in turn; each knob can go wrong."""
    p = heat(logits, temperature)
    p = between(p * by_k(p, top_k))
    return last(p * by_p(p, top_p))


def _cut(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda **inputs: {"probabilities": cut(**inputs, **knobs)}


def _heat(formula):
    return _cut(heat=formula)


def _heat_last(logits, temperature, top_k, top_p):
    """Choose who stays before the temperature acts."""
    stays = cut(logits, 1.0, top_k, top_p) > 0
    return {"probabilities": share(soft(logits / temperature) * stays)}


def _zero_logits(logits, temperature, top_k, top_p):
    """Cut by setting logits to 0, of which the exponential is 1."""
    stays = cut(logits, temperature, top_k, top_p) > 0
    return {"probabilities": soft(np.where(stays, logits / temperature, 0.0))}


def _both_of_all(logits, temperature, top_k, top_p):
    """Ask both cuts of the whole distribution."""
    p = soft(logits / temperature)
    return {"probabilities": share(p * keep_k(p, top_k) * keep_p(p, top_p))}


def _naive(z, temperature):
    e = np.exp(z / temperature)
    return e / np.sum(e, axis=-1, keepdims=True)


def _one_sum(p):
    """Let all rows together add to one."""
    if p.ndim < 2:
        raise ValueError("only several rows show this mistake")
    return p / np.sum(p)


def _all_or(keep):
    """Leave the setting None, which keeps all, as it is."""
    return lambda p, k: np.ones(p.shape, bool) if k is None else keep(p, k)


def _crossing_left_out(p, top_p):
    return (before(p) + p <= top_p) | (top_p >= 1)


MISTAKES = (
    Mistake(
        "multiplied",
        "Should a temperature of 0.1 make the likeliest token likelier? What does yours do?",
        _heat(lambda z, temperature: soft(z * temperature)),
    ),
    Mistake(
        "temperature_ignored",
        "Where does the temperature come in?",
        _heat(lambda z, temperature: soft(z)),
    ),
    Mistake(
        "temperature_rooted",
        "Is it the temperature that divides, or its root?",
        _heat(lambda z, temperature: soft(z / temperature**0.5)),
    ),
    Mistake(
        "temperature_squared",
        "How often does the temperature divide the logits?",
        _heat(lambda z, temperature: soft(z / temperature**2)),
    ),
    Mistake(
        "no_softmax",
        "What turns logits into probabilities? A share of a sum may be negative.",
        _heat(lambda z, temperature: z / temperature),
    ),
    Mistake(
        "softmax_twice",
        "How often does a softmax act? Does the temperature divide logits, or probabilities?",
        _heat(lambda z, temperature: soft(soft(z) / temperature)),
    ),
    Mistake(
        "overflows",
        "What is the exponential of 2000 / 0.01? What can be taken from all logits before it?",
        _heat(_naive),
    ),
    Mistake(
        "across_rows",
        "Does each row of logits have a distribution of its own?",
        _cut(between=_one_sum, last=_one_sum),
    ),
    Mistake(
        "one_too_many",
        "How many tokens are left with top_k = 2: two, or three?",
        _cut(by_k=_all_or(lambda p, k: ranked(p) <= k)),
    ),
    Mistake(
        "one_too_few",
        "How many tokens are left with top_k = 2: two, or one?",
        _cut(by_k=_all_or(lambda p, k: ranked(p) < max(k - 1, 1))),
    ),
    Mistake(
        "least_likely",
        "Which end of the order does your top_k keep?",
        _cut(by_k=_all_or(lambda p, k: ranked(-p) < k)),
    ),
    Mistake(
        "first_k",
        "Are the k tokens that stay the likeliest, or those with the smallest ids?",
        _cut(by_k=_all_or(lambda p, k: np.broadcast_to(np.arange(p.shape[-1]) < k, p.shape))),
    ),
    Mistake(
        "k_ignored",
        "What does your function do with top_k?",
        _cut(by_k=lambda p, k: True),
    ),
    Mistake(
        "crossing_left_out",
        "Together the tokens that stay must have top_p. Does the one that reaches it stay?",
        _cut(by_p=_crossing_left_out),
    ),
    Mistake(
        "crossing_left_out_but_one",
        "At least one token stays in yours. But have those that stay top_p together?",
        _cut(by_p=lambda p, top_p: _crossing_left_out(p, top_p) | (ranked(p) == 0)),
    ),
    Mistake(
        "one_after_crossing",
        "Is top_p reached before the last token that you keep?",
        _cut(by_p=lambda p, top_p: ranked(p) <= np.sum(keep_p(p, top_p), -1, keepdims=True)),
    ),
    Mistake(
        "tail_kept",
        "From which end do you add up probabilities: the likeliest first?",
        _cut(by_p=lambda p, top_p: 1 - before(p) - p < top_p),
    ),
    Mistake(
        "threshold",
        "Is top_p a sum of probabilities, or the least probability of a single token?",
        _cut(by_p=lambda p, top_p: (p >= 1 - top_p) | (ranked(p) == 0)),
    ),
    Mistake(
        "not_sorted",
        "In which order do you add up probabilities: that of the ids?",
        _cut(by_p=lambda p, top_p: np.cumsum(p, axis=-1) - p < top_p),
    ),
    Mistake(
        "p_ignored",
        "What does your function do with top_p?",
        _cut(by_p=lambda p, top_p: True),
    ),
    Mistake(
        "not_renormalised",
        "What do the probabilities add up to that are left?",
        _cut(between=lambda p: p, last=lambda p: p),
    ),
    Mistake(
        "not_renormalised_last",
        "What do the probabilities add up to after the last cut?",
        _cut(last=lambda p: p),
    ),
    Mistake(
        "p_of_all",
        "top_p is a share of what top_k has left. Which cut comes first in yours, and "
        "of what is top_p a share?",
        _both_of_all,
    ),
    Mistake(
        "temperature_last",
        "Does the temperature act before the cuts or after them?",
        _heat_last,
    ),
    Mistake(
        "zero_logits",
        "You set a logit to 0 to cut its token. What is the exponential of 0?",
        _zero_logits,
    ),
)
