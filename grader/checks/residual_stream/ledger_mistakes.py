"""The ways in which the ledger goes wrong: wrong entries, a wrong end, a wrong run."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from grader.checks.residual_stream.formulas import asked_twice, fresh, norm


def run(x, sublayers, weights, eps, update=None, ask=None):
    """Return all states of the stream and all writes, with another update if one is given."""
    update = update or (lambda x, written: x + written)
    ask = ask or (lambda f, t: f(t))
    states, writes = [x], []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        writes.append(ask(fresh(sublayer), norm(states[-1], weight, eps)))
        states.append(update(states[-1], writes[-1]))
    return np.stack(states), np.stack(writes)


def _made(formula):
    """Make outputs of the right states and writes."""

    def outputs(x, sublayers, weights, eps):
        states, writes = run(x, sublayers, weights, eps)
        return dict(formula(states, writes))

    return outputs


def _run_as(**change):
    """Make both outputs of a run that goes wrong."""

    def outputs(x, sublayers, weights, eps):
        states, writes = run(x, sublayers, weights, eps, **change)
        return {"out": states[-1], "writes": writes}

    return outputs


def _given(change):
    """Make both outputs of a right run on other inputs."""

    def outputs(x, sublayers, weights, eps):
        states, writes = run(*change(x, sublayers, weights, eps))
        return {"out": states[-1], "writes": writes}

    return outputs


def _all_read_the_start(x, sublayers, weights, eps):
    pairs = zip(sublayers, weights, strict=True)
    writes = np.stack([fresh(f)(norm(x, weight, eps)) for f, weight in pairs])
    return {"out": x + writes.sum(axis=0), "writes": writes}


def _normed_stream_kept(x, sublayers, weights, eps):
    writes = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        x = norm(x, weight, eps)
        writes.append(fresh(sublayer)(x))
        x = x + writes[-1]
    return {"out": x, "writes": np.stack(writes)}


def _no_norm(x, sublayers, weights, eps):
    writes = []
    for sublayer in sublayers:
        writes.append(fresh(sublayer)(x))
        x = x + writes[-1]
    return {"out": x, "writes": np.stack(writes)}


def _ledger_asks_again(x, sublayers, weights, eps):
    """Add the first answer to the stream and keep the second."""
    kept = []
    for sublayer, weight in zip(sublayers, weights, strict=True):
        own, normed = fresh(sublayer), norm(x, weight, eps)
        x = x + own(normed)
        kept.append(own(normed))
    return {"out": x, "writes": np.stack(kept)}


MISTAKES = (
    Mistake(
        "states_for_writes",
        "Is that what was added, or what the stream was after it? Sum yours up: what comes out?",
        _made(lambda states, writes: {"writes": states[1:]}),
    ),
    Mistake(
        "states_before",
        "You kept what each sublayer found in the stream. What did it put there?",
        _made(lambda states, writes: {"writes": states[:-1]}),
    ),
    Mistake(
        "as_differences",
        "You take the difference of two large numbers to get a small one. "
        "Which line had the small one in its hands?",
        _made(lambda states, writes: {"writes": np.diff(states, axis=0)}),
    ),
    Mistake(
        "end_everywhere",
        "All your entries are the end of the stream. What does `+=` do to an array that you keep?",
        _made(lambda states, writes: {"writes": np.stack([states[-1]] * len(writes))}),
    ),
    Mistake(
        "running_sums",
        "Does each of your entries hold the ones before it as well?",
        _made(lambda states, writes: {"writes": np.cumsum(writes, axis=0)}),
    ),
    Mistake(
        "last_write_everywhere",
        "Are all entries of your list one and the same array?",
        _made(lambda states, writes: {"writes": np.stack([writes[-1]] * len(writes))}),
    ),
    Mistake(
        "last_first",
        "In which order are the writes to be kept?",
        _made(lambda states, writes: {"writes": writes[::-1]}),
    ),
    Mistake(
        "axis_last",
        "On which axis do you stack the writes?",
        _made(lambda states, writes: {"writes": np.stack(list(writes), axis=-1)}),
    ),
    Mistake(
        "start_among_writes",
        "How many writes are there for N sublayers? Is the embedding one of them?",
        _made(lambda states, writes: {"writes": np.concatenate([states[:1], writes])}),
    ),
    Mistake(
        "summed",
        "You return one array where one for each sublayer is wanted. Who wrote which part?",
        _made(lambda states, writes: {"writes": writes.sum(axis=0)}),
    ),
    Mistake(
        "start_for_end",
        "You return the stream as it was at the start. Where is what the sublayers wrote?",
        _made(lambda states, writes: {"out": states[0]}),
    ),
    Mistake(
        "embedding_missing",
        "Your end of the stream holds all writes. What was in it before the first?",
        _made(lambda states, writes: {"out": writes.sum(axis=0)}),
    ),
    Mistake(
        "last_write_missing",
        "Which write is not yet in your stream at the end?",
        _made(lambda states, writes: {"out": states[-2]}),
    ),
    Mistake(
        "last_write_twice",
        "Which write is in your stream twice?",
        _made(lambda states, writes: {"out": states[-1] + writes[-1]}),
    ),
    Mistake(
        "final_norm",
        "Is the end of the stream normalised here? By whom?",
        _made(lambda states, writes: {"out": norm(states[-1])}),
    ),
    Mistake(
        "stream_not_moved",
        "Does your second sublayer find in the stream what the first one wrote?",
        _all_read_the_start,
    ),
    Mistake(
        "normed_stream_kept",
        "To what do you add a write: to x, or to norm(x)?",
        _normed_stream_kept,
    ),
    Mistake(
        "no_residual",
        "What is left of the stream after a sublayer that writes zeros?",
        _run_as(update=lambda x, written: written),
    ),
    Mistake(
        "no_norm",
        "What do your sublayers read: the stream, or its normalised copy?",
        _no_norm,
    ),
    Mistake(
        "first_gain_for_all",
        "Which gain does your second norm use?",
        _given(lambda x, f, weights, eps: (x, f, np.tile(weights[:1], (len(f), 1)), eps)),
    ),
    Mistake(
        "gains_missing",
        "Where do the gains come in?",
        _given(lambda x, f, weights, eps: (x, f, np.ones_like(weights), eps)),
    ),
    Mistake(
        "eps_fixed",
        "Do your norms use the ε that they are given?",
        _given(lambda x, f, weights, eps: (x, f, weights, 1e-5)),
    ),
    Mistake(
        "sublayers_reversed",
        "Which sublayer is the first to read the embedding?",
        _given(lambda x, f, weights, eps: (x, f[::-1], weights[::-1], eps)),
    ),
    Mistake(
        "asked_twice",
        "How often do you call each sublayer? Is what you keep what you added?",
        _run_as(ask=asked_twice),
    ),
    Mistake(
        "kept_and_added_differ",
        "You ask each sublayer twice: for the stream, and for the ledger. Need the answers agree?",
        _ledger_asks_again,
    ),
)
