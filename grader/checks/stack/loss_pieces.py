"""The loss and its gradient, written apart from the library, with knobs that turn them wrong."""

import numpy as np


def soft(logits, axis=-1):
    """Return the softmax, safe at any size."""
    e = np.exp(logits - np.max(logits, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_soft(logits, axis=-1):
    """Return the logarithm of the softmax, safe at any size."""
    shifted = logits - np.max(logits, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def log_naive(logits):
    """Return it as the fraction has it, overflow and all."""
    e = np.exp(logits)
    return np.log(e / np.sum(e, axis=-1, keepdims=True))


def log_one_maximum(logits):
    """Take one maximum for the whole array."""
    return log_naive(logits - np.max(logits))


def next_ones(logits, ids):
    """Pair each position but the last with the id that follows it."""
    return logits[..., :-1, :], ids[..., 1:]


def picked(values, targets):
    """Take the entry of each row that its target names."""
    return np.take_along_axis(values, targets[..., None], axis=-1)[..., 0]


def loss_of(logits, ids, *, pairs=next_ones, logs=log_soft, average=np.mean):
    """Average −log p over the pairs; each knob is one step of the definition."""
    kept, targets = pairs(logits, ids)
    return average(-picked(logs(kept), targets))


def gradient_of(
    logits,
    ids,
    *,
    pairs=next_ones,
    probabilities=soft,
    minus=lambda p, hot: p - hot,
    count=lambda targets, logits: targets.size,
    start=0,
):
    """Differentiate the loss by the logits; rows that have no target stay zero."""
    kept, targets = pairs(logits, ids)
    hot = np.eye(logits.shape[-1])[targets]
    rows = minus(probabilities(kept), hot) / count(targets, logits)
    dlogits = np.zeros(logits.shape)
    dlogits[..., start : start + rows.shape[-2], :] = rows
    return dlogits


def same_place(logits, ids):
    """Forget the shift."""
    return logits, ids


def two_on(logits, ids):
    """Shift twice."""
    return logits[..., :-2, :], ids[..., 2:]


def backwards(logits, ids):
    """Let each position tell the id before it."""
    return logits[..., 1:, :], ids[..., :-1]


def round_the_end(logits, ids):
    """Let the last position tell the first id."""
    return logits, np.roll(ids, -1, axis=-1)


def last_pair(logits, ids):
    """Keep the last pair only."""
    return logits[..., -2:-1, :], ids[..., -1:]


def first_of_several(logits, ids):
    """Keep the first sequence only."""
    if ids.ndim < 2:
        raise ValueError("only several sequences show this mistake")
    at = (0,) * (ids.ndim - 1)
    return next_ones(logits[at], ids[at])


def across_texts(logits, ids):
    """Lay all texts end to end, so that the last id of one foretells the first of the next."""
    if ids.ndim < 2:
        raise ValueError("only several sequences show this mistake")
    return next_ones(logits.reshape(-1, logits.shape[-1]), ids.reshape(-1))
