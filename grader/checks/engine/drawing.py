"""Drawing the cases of a claim: once for a seed, since all students of a class meet the same ones.

What a process has drawn is kept, and listed as fresh: a fork that ends can tell its parent, which
draws it too, and the forks after it find it there.
"""

import contextlib
from functools import wraps

import numpy as np

MOST_KEPT = 256  # draws; the largest sheet needs some 80 of each kind
REDRAWS, DRAWS = 2, 16  # that many are tried, of that many drawn

_kept = {}  # (kind, exercise, claim, seed) to (the claim itself, its cases)
_fresh = []  # keys of what was drawn since `take_fresh`
_kinds = {}


def _keep(draw):
    """Let a function of exercise, claim and seed draw once what it is asked for again."""

    @wraps(draw)
    def drawn(exercise, claim, seed):
        key = draw.__name__, exercise.name, claim.name, seed
        of, cases = _kept.get(key, (None, None))
        if of is not claim:
            cases = tuple(draw(exercise, claim, seed))
            _kept[key] = claim, cases
            _fresh.append(key)
            if len(_kept) > MOST_KEPT:
                del _kept[next(iter(_kept))]
        return cases

    _kinds[draw.__name__] = drawn
    return drawn


@_keep
def first_cases(exercise, claim, seed):
    """Return the cases on which a claim is judged."""
    return claim.drawn(seed)


@_keep
def other_cases(exercise, claim, seed):
    """Return new cases of a claim: those of the draws whose sizes are least like the first ones.

    A size that comes again hides what is written into an answer: with d = 5, a 4 looks like d − 1.
    """
    first, draws = first_cases(exercise, claim, seed), []
    for draw in range(DRAWS):
        cases = list(claim.cases(np.random.default_rng([seed, draw])))
        draws.append((sum(map(_alike, first, cases)), cases))
        if sum(alike == 0 for alike, _ in draws) == REDRAWS:
            break  # no later draw is less like the first ones
    draws.sort(key=lambda scored: scored[0])
    return [case for _, cases in draws[:REDRAWS] for case in cases]


def wanted(exercise, case):
    """Return what an exercise's reference gives on a case; the case keeps it."""
    if "wanted" not in vars(case):
        vars(case)["wanted"] = exercise.reference(**case.inputs)
    return vars(case)["wanted"]


def take_fresh():
    """Return the keys of what was drawn since the last call."""
    keys = tuple(_fresh)
    _fresh.clear()
    return keys


def draw_again(keys, find):
    """Draw what another process has drawn, with what is wanted on it.

    Parameters
    ----------
    keys : iterable of tuple
        From `take_fresh` over there.
    find : callable
        Returns the exercise of a name.
    """
    for kind, name, claim, seed in keys:
        exercise = find(name)
        for case in _kinds[kind](exercise, exercise.claim(claim), seed):
            with contextlib.suppress(Exception):  # where it raises, judging will say so
                wanted(exercise, case)
    _fresh.clear()


def _sizes(case):
    """Return the shape of each array among the inputs."""
    return [np.shape(value) for value in case.inputs.values() if isinstance(value, np.ndarray)]


def _alike(first, second):
    """Return the share of axes that are as long in one case as in the other."""
    pairs = [
        pair
        for shapes in zip(_sizes(first), _sizes(second), strict=False)
        for pair in zip(*(shape[::-1] for shape in shapes), strict=False)
    ]
    return sum(a == b for a, b in pairs) / max(1, len(pairs))
