"""The logit as a sum: the share of every part of the stream."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.residual_stream.formulas import norm, shape
from transformer_block.residual_stream import logit_shares

NUMBERS = (3, 5)  # of parts


def _case(rng, about, leading=1, *, eps=1e-5, scale=1.0):
    drawn = shape(rng, leading)
    parts = witness.rows(rng, (int(rng.choice(NUMBERS)), *drawn), scale)
    parts *= rng.permutation(np.geomspace(0.3, 3, len(parts))).reshape(-1, *(1,) * len(drawn))
    inputs = {
        "parts": parts,
        "weight": witness.gain(rng, drawn[-1]),
        "direction": witness.rows(rng, drawn[-1:]),
        "eps": eps,
    }
    return Case(inputs, about)


def _value(rng):
    yield _case(rng, "parts of different size")
    yield _case(rng, "parts a hundred times as large", scale=100.0)
    yield _case(rng, "ε = 0.3", eps=0.3)
    yield _case(rng, "two leading axes before the tokens", 2)
    yield _case(rng, "one sequence without leading axes", 0)


def _untouched(rng):
    yield _case(rng, "parts of different size, looked at again after the call", 2)


def _made(formula):
    """Make shares of a formula in the parts, the RMS function, and gain times direction."""

    def outputs(parts, weight, direction, eps):
        return {"shares": formula(parts, lambda t: norm(t, 1.0, eps) / t, weight * direction)}

    return outputs


def _shares(parts, inv_rms, read):
    return (parts * inv_rms(parts.sum(axis=0))) @ read


def _given(change):
    """Make the right shares of other inputs."""

    def outputs(parts, weight, direction, eps):
        return {"shares": logit_shares(*change(parts, weight, direction, eps))}

    return outputs


MISTAKES = (
    Mistake(
        "each_its_own_rms",
        "By which RMS do you divide a part: by its own? Do your shares add up to the logit?",
        _made(lambda parts, inv_rms, read: (parts * inv_rms(parts)) @ read),
    ),
    Mistake(
        "rms_so_far",
        "By the RMS of which stream do you divide: of the one at that place, or at the end?",
        _made(lambda parts, inv_rms, read: (parts * inv_rms(np.cumsum(parts, axis=0))) @ read),
    ),
    Mistake(
        "rms_of_the_first",
        "Whose RMS do you divide by: that of the embedding?",
        _made(lambda parts, inv_rms, read: (parts * inv_rms(parts[0])) @ read),
    ),
    Mistake(
        "rms_of_the_last",
        "Whose RMS do you divide by: that of the last write?",
        _made(lambda parts, inv_rms, read: (parts * inv_rms(parts[-1])) @ read),
    ),
    Mistake(
        "lens",
        "Is that the share of one part, or what the stream says after it?",
        _made(
            lambda parts, inv_rms, read: (
                np.cumsum(parts, axis=0) * inv_rms(np.cumsum(parts, axis=0)) @ read
            )
        ),
    ),
    Mistake(
        "running_sums",
        "Does each of your shares hold the ones before it as well?",
        _made(lambda parts, inv_rms, read: np.cumsum(_shares(parts, inv_rms, read), axis=0)),
    ),
    Mistake(
        "no_norm",
        "What happens to the stream between its end and the logits?",
        _made(lambda parts, inv_rms, read: parts @ read),
    ),
    Mistake(
        "normed_twice",
        "How often is the stream normalised before the logits?",
        _made(
            lambda parts, inv_rms, read: _shares(parts * inv_rms(parts.sum(axis=0)), inv_rms, read)
        ),
    ),
    Mistake(
        "mean_of_the_parts",
        "Is the stream the sum of its parts, or their mean? Of which do you take the RMS?",
        _made(lambda parts, inv_rms, read: (parts * inv_rms(parts.mean(axis=0))) @ read),
    ),
    Mistake(
        "percentages",
        "Must the shares add up to one, or to the logit?",
        _made(lambda parts, inv_rms, read: parts @ read / np.sum(parts @ read, axis=0)),
    ),
    Mistake(
        "total",
        "You return the logit. Into how many shares is it to be split?",
        _made(lambda parts, inv_rms, read: _shares(parts, inv_rms, read).sum(axis=0)),
    ),
    Mistake(
        "gain_missing",
        "Where does the gain of the final norm come in?",
        _given(lambda parts, weight, direction, eps: (parts, 1 + 0 * weight, direction, eps)),
    ),
    Mistake(
        "direction_missing",
        "Of which token is that the logit? Where does its direction come in?",
        _given(lambda parts, weight, direction, eps: (parts, weight, 1 + 0 * direction, eps)),
    ),
    Mistake(
        "eps_fixed",
        "Does your norm use the ε that it is given?",
        _given(lambda parts, weight, direction, eps: (parts, weight, direction, 1e-5)),
    ),
)

SHARES = Exercise(
    name="logit_shares",
    returns=("shares",),
    reference=lambda parts, weight, direction, eps: {
        "shares": logit_shares(parts, weight, direction, eps)
    },
    claims=by_name(
        Claim(
            "value",
            "The shares add up to the logit, and each is that of its own part.",
            _value,
            ("shares",),
        ),
        Claim(
            "untouched",
            "Nothing is written into the arguments.",
            _untouched,
            ("shares",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
