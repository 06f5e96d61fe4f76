"""Writing on by hand, with knobs that turn it wrong, and the mistakes that they make."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from grader.checks.stack.probabilities_mistakes import cut
from transformer_block.decoder import decoder_forward


def generator(seed):
    """Make the generator of a seed; none at temperature zero."""
    return None if seed is None else np.random.default_rng(seed)


def by_order_of_ids(p, rng):
    """Take the first token at which the probabilities, added up by id, pass a number."""
    return int(np.searchsorted(np.cumsum(p) / np.sum(p), rng.random(), side="right"))


def by_rank(p, rng):
    """Add up the probabilities from the likeliest on."""
    order = np.argsort(-p, kind="stable")
    return int(order[by_order_of_ids(p[order], rng)])


def from_above(p, rng):
    """Add up the probabilities from the last id on."""
    return len(p) - 1 - by_order_of_ids(p[::-1], rng)


def write_on(
    ids,
    params,
    n_heads,
    n_new,
    seed,
    temperature,
    top_k,
    top_p,
    *,
    read=lambda text, old: text,
    at=-1,
    best=np.argmax,
    draw=by_order_of_ids,
    spread=cut,
    grow=lambda text, token: [*text, token],
    fixed_seed=None,
    always=None,
):
    """Continue a text token by token; each knob can go wrong."""
    rng, text, new = generator(seed), list(ids), []
    for _ in range(n_new):
        if fixed_seed is not None:
            rng = np.random.default_rng(fixed_seed)
        logits = decoder_forward(np.array(read(text, ids)), params, n_heads)[0][at]
        drawn = always != "greedy" and temperature > 0
        token = draw(spread(logits, temperature, top_k, top_p), rng) if drawn else best(logits)
        text = grow(text, int(token))
        new.append(int(token))
    return np.array([*ids, *new])


def _out(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda **inputs: {"out": write_on(**inputs, **knobs)}


def _with(**changed):
    """Make a mistake that writes a setting of its own over one that it is given."""
    return lambda **inputs: {"out": write_on(**{**inputs, **changed})}


def _needs_draw(outputs):
    """Let a mistake of drawing tell nothing about greedy cases."""

    def only_drawn(**inputs):
        if inputs["seed"] is None:
            raise ValueError("only a draw shows this mistake")
        return outputs(**inputs)

    return only_drawn


def _of_logits(logits, temperature, top_k, top_p):
    """Make shares of the logits themselves, without an exponential."""
    positive = np.maximum(logits, 0.0)
    return positive / np.sum(positive)


def _sized(logits, temperature, top_k, top_p):
    return np.abs(logits) / np.sum(np.abs(logits))


def _reused(**inputs):
    """Start each token with a generator in the state of the first."""
    return {"out": write_on(**inputs, fixed_seed=inputs["seed"])}


MISTAKES = (
    Mistake(
        "first_position",
        "Which position's logits know the whole prefix? Which do you take?",
        _out(at=0),
    ),
    Mistake(
        "position_before",
        "Which token do the logits of the last but one position foretell? Is it not there yet?",
        _out(at=-2),
    ),
    Mistake(
        "prefix_fixed",
        "Does the stack see the token that you added a moment ago?",
        _out(read=lambda text, old: old),
    ),
    Mistake(
        "last_token_alone",
        "Does the stack see the prefix, or only its last token? Nothing is kept from before.",
        _out(read=lambda text, old: text[-1:]),
    ),
    Mistake(
        "new_alone",
        "Does the stack still see the first tokens when the text has grown?",
        _out(read=lambda text, old: text[-len(old) :]),
    ),
    Mistake(
        "prefix_missing",
        "What is returned: the new tokens alone, or the whole text?",
        lambda **inputs: {"out": write_on(**inputs)[len(inputs["ids"]) :]},
    ),
    Mistake(
        "one_too_few",
        "How many new tokens are in your text?",
        lambda **inputs: {"out": write_on(**{**inputs, "n_new": max(inputs["n_new"] - 1, 0)})},
    ),
    Mistake(
        "one_too_many",
        "Does your text end one token late?",
        lambda **inputs: {"out": write_on(**{**inputs, "n_new": inputs["n_new"] + 1})},
    ),
    Mistake(
        "grows_in_front",
        "At which end of the text does the new token stand?",
        lambda **inputs: {"out": _in_front(**inputs)},
    ),
    Mistake(
        "least_likely",
        "Is it the largest logit or the smallest that you look for?",
        _out(best=np.argmin),
    ),
    Mistake(
        "largest_size",
        "Is a logit of −5 a reason to take a token?",
        _out(best=lambda logits: np.argmax(np.abs(logits))),
    ),
    Mistake(
        "always_greedy",
        "Do you draw when the temperature is above zero, or still take the likeliest?",
        _out(always="greedy"),
    ),
    Mistake(
        "temperature_ignored",
        "You draw. Where does the temperature come in?",
        _out(spread=lambda z, temperature, k, p: cut(z, 1.0, k, p)),
    ),
    Mistake(
        "temperature_multiplied",
        "Should a high temperature make the draw more daring? What does yours do?",
        _out(spread=lambda z, temperature, k, p: cut(z, 1 / temperature, k, p)),
    ),
    Mistake(
        "k_ignored",
        "Does your draw know of top_k?",
        _with(top_k=None),
    ),
    Mistake(
        "p_ignored",
        "Does your draw know of top_p?",
        _with(top_p=1.0),
    ),
    Mistake(
        "nothing_cut",
        "Does your draw know of top_k and top_p?",
        _with(top_k=None, top_p=1.0),
    ),
    Mistake(
        "uniform",
        "Does your draw know of the probabilities, or has each token the same chance?",
        _out(spread=lambda z, temperature, k, p: np.full(z.shape, 1 / z.size)),
    ),
    Mistake(
        "from_logits",
        "What do you draw from: the logits, or the probabilities made of them?",
        _out(spread=_of_logits),
    ),
    Mistake(
        "from_sizes",
        "What do you draw from? A logit of −5 makes a token unlikely.",
        _out(spread=_sized),
    ),
    Mistake(
        "generator_restarted",
        "Does each token get a random number of its own? Is your generator made new each time?",
        _needs_draw(_reused),
    ),
    Mistake(
        "added_up_by_rank",
        "In which order do you add up the probabilities for a draw: that of the ids?",
        _out(draw=by_rank),
    ),
    Mistake(
        "added_up_from_above",
        "From which id on do you add up the probabilities for a draw?",
        _out(draw=from_above),
    ),
)


def _in_front(ids, n_new, **rest):
    text = ids
    for _ in range(n_new):
        text = np.roll(write_on(text, n_new=1, **rest), 1)
    return text
