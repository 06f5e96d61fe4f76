"""A training run by hand, with knobs that turn it wrong, and the mistakes that they make."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from transformer_block._trees import tree_map
from transformer_block.decoder import decoder_backward, decoder_forward
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward


def gradients(ids, params, n_heads):
    """Return the loss, E's gradients from below and from above, and those of the rest."""
    logits, cache = decoder_forward(ids[..., :-1], params, n_heads)
    loss, loss_cache = cross_entropy_forward(logits, ids[..., 1:])
    untied = (*cache[:-1], False)  # the library keeps the two apart where weights are not tied
    grads = decoder_backward(cross_entropy_backward(1.0, loss_cache), untied)
    return loss, grads.pop("embedding"), grads.pop("head"), grads


def descend(
    ids,
    params,
    n_heads,
    rate,
    n_steps,
    *,
    join=lambda bottom, top: bottom + top,
    step=lambda p, g: -g,
    pace=lambda rate, number: rate,
    kept=(),
    stale="",
):
    """Train by plain gradient descent and list the losses; each knob can go wrong."""
    losses, grads = [], None
    for number in range(n_steps + 1):
        loss, bottom, top, rest = gradients(ids, params, n_heads)
        losses.append(loss)
        new = {"embedding": join(bottom, top), **rest}
        if grads is None or stale != "gradient":
            grads = tree_map(np.add, grads, new) if stale == "sum" and grads else new
        now = pace(rate, number)
        moved = tree_map(lambda p, g, now=now: p + now * step(p, g), params, grads)
        params = {**moved, **{name: params[name] for name in kept}}
    return {"losses": np.array(losses)}


def _way(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda **inputs: descend(**inputs, **knobs)


def _without_gains(ids, params, n_heads, rate, n_steps):
    """Move the matrices alone."""
    return descend(
        ids, params, n_heads, rate, n_steps, step=lambda p, g: -g if p.ndim > 1 else 0 * g
    )


def _untied(ids, params, n_heads, rate, n_steps):
    """Give each end a copy of E, which then goes its own way."""
    losses, params = [], {**params, "head": params["embedding"]}
    for _ in range(n_steps + 1):
        logits, cache = decoder_forward(ids[..., :-1], params, n_heads)
        loss, loss_cache = cross_entropy_forward(logits, ids[..., 1:])
        losses.append(loss)
        grads = decoder_backward(cross_entropy_backward(1.0, loss_cache), cache)
        params = tree_map(lambda p, g: p - rate * g, params, grads)
    return {"losses": np.array(losses)}


def _last_of_each_id(ids, params, n_heads, rate, n_steps):
    """Let one position of each id reach its row, as ``array[ids] += g`` does."""
    losses = []
    for _ in range(n_steps + 1):
        logits, cache = decoder_forward(ids[..., :-1], params, n_heads)
        loss, loss_cache = cross_entropy_forward(logits, ids[..., 1:])
        losses.append(loss)
        dlogits = cross_entropy_backward(1.0, loss_cache)
        grads = decoder_backward(dlogits, (*cache[:-1], False))
        grads["embedding"] = grads.pop("head") + _buffered(dlogits, cache)
        params = tree_map(lambda p, g: p - rate * g, params, grads)
    return {"losses": np.array(losses)}


def _buffered(dlogits, cache):
    """Scatter what arrives at the look-up without adding up what comes again."""
    ids, weight = cache[0]
    unique = np.arange(ids.size).reshape(ids.shape)  # every position has a row of its own
    apart = ((unique, np.zeros((ids.size, weight.shape[1]))), *cache[1:-1], False)
    table = np.zeros_like(weight)
    table[ids.ravel()] = decoder_backward(dlogits, apart)["embedding"]
    return table


def _listed(change):
    """Make a mistake in which losses are listed."""
    return lambda **inputs: {"losses": change(descend(**inputs)["losses"])}


def _one_more(ids, params, n_heads, rate, n_steps):
    """List the losses after the steps, and not the one before the first."""
    return {"losses": descend(ids, params, n_heads, rate, n_steps + 1)["losses"][1:]}


MISTAKES = (
    Mistake(
        "ascent",
        "Does your loss rise? In which direction does a gradient point?",
        _way(step=lambda p, g: g),
    ),
    Mistake(
        "no_step",
        "Do the new parameters ever take the place of the old ones?",
        _way(step=lambda p, g: 0 * g),
    ),
    Mistake(
        "rate_ignored",
        "How long are your steps? Where does the rate come in?",
        _way(pace=lambda rate, number: 1.0),
    ),
    Mistake(
        "rate_falls",
        "Is the rate the same at every step?",
        _way(pace=lambda rate, number: rate / (number + 1)),
    ),
    Mistake(
        "rate_squared",
        "How often does the rate multiply a gradient?",
        _way(pace=lambda rate, number: rate * rate),
    ),
    Mistake(
        "rate_twice",
        "Is a step as long as the rate says, or twice as long?",
        _way(pace=lambda rate, number: 2 * rate),
    ),
    Mistake(
        "old_gradient",
        "At which parameters is the gradient of the second step taken?",
        _way(stale="gradient"),
    ),
    Mistake(
        "gradients_pile_up",
        "Does a step still hold the gradients of the steps before it?",
        _way(stale="sum"),
    ),
    Mistake(
        "sign_only",
        "Is the step the gradient, or only its sign?",
        _way(step=lambda p, g: -np.sign(g)),
    ),
    Mistake(
        "bottom_only",
        "Which of E's two gradients moves it? Where is the one from the logits?",
        _way(join=lambda bottom, top: bottom),
    ),
    Mistake(
        "top_only",
        "Which of E's two gradients moves it? Where is the one from the look-up?",
        _way(join=lambda bottom, top: top),
    ),
    Mistake(
        "averaged",
        "Are E's two gradients added before the step, or averaged?",
        _way(join=lambda bottom, top: (bottom + top) / 2),
    ),
    Mistake(
        "tie_broken",
        "After the first step, is the matrix of the logits still the one of the look-up?",
        lambda **inputs: _untied(**inputs),
    ),
    Mistake(
        "repeated_lost",
        "An id comes several times in the text. Do all its gradients reach its row of E?",
        lambda **inputs: _last_of_each_id(**inputs),
    ),
    Mistake(
        "embedding_fixed",
        "Which parameters does a step move? Is E among them?",
        _way(kept=("embedding",)),
    ),
    Mistake(
        "blocks_fixed",
        "Which parameters does a step move? Are those of the blocks among them?",
        _way(kept=("blocks",)),
    ),
    Mistake(
        "final_norm_fixed",
        "Which parameters does a step move? Is the gain of the final norm among them?",
        _way(kept=("final_norm",)),
    ),
    Mistake(
        "gains_fixed",
        "Which parameters does a step move? Are the gains of the norms among them?",
        lambda **inputs: _without_gains(**inputs),
    ),
    Mistake(
        "first_loss_missing",
        "Is the loss before the first step in your list?",
        _one_more,
    ),
    Mistake(
        "last_loss_missing",
        "Is the loss after the last step in your list?",
        _listed(lambda losses: losses[:-1]),
    ),
    Mistake(
        "newest_first",
        "In which order do you list the losses?",
        _listed(lambda losses: losses[::-1]),
    ),
    Mistake(
        "last_loss_alone",
        "Are all losses asked for, or only the last one?",
        _listed(lambda losses: losses[-1:]),
    ),
)
