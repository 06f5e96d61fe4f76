"""From logits to what is drawn from: temperature, top-k and top-p, checked on the distribution."""

import numpy as np

from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.stack.inputs import LEADING, sizes, spread_logits
from grader.checks.stack.loss_pieces import soft
from grader.checks.stack.probabilities_mistakes import MISTAKES
from transformer_block.generate import next_token_probabilities


def _case(rng, about, leading=0, temperature=1.0, top_k=None, top_p=1.0, offset=0.0):
    V = sizes(rng)[0]
    logits = spread_logits(rng, (*LEADING[leading], V)) + offset
    inputs = {"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    return Case(inputs, about)


def _temperature(rng):
    for temperature in (1.0, float(rng.uniform(0.4, 0.7)), float(rng.uniform(1.4, 2.5))):
        yield _case(rng, f"temperature {temperature:.2f}, nothing cut", temperature=temperature)
    yield _case(rng, "temperature 0.01, logits near 2000", temperature=0.01, offset=2000.0)


def _top_k(rng):
    for k in rng.permutation([2, 3, 5])[:2]:
        yield _case(rng, f"the {k} likeliest", top_k=int(k))
    yield _case(rng, "only the likeliest", top_k=1)
    yield _case(rng, "more than there are", top_k=1000)


def _top_p(rng):
    for p in (float(rng.uniform(0.4, 0.6)), float(rng.uniform(0.8, 0.93))):
        yield _case(rng, f"top-p {p:.2f}", top_p=p)
    yield _sure(rng)


def _sure(rng):
    """Make one token likelier than top-p asks for."""
    case = _case(rng, "top-p 0.30, and one token that is likelier than that", top_p=0.3)
    logits = case.inputs["logits"].copy()
    logits[int(rng.integers(logits.size))] += 12.0
    return Case(case.inputs | {"logits": logits}, case.about)


def _together(rng):
    for _ in range(2):
        drawn = _case(rng, "temperature, top-k and top-p together", top_k=6)
        temperature = float(rng.uniform(1.3, 1.9))
        p = -np.sort(-soft(drawn.inputs["logits"] / temperature))
        low, high = np.sum(p[:2]), np.sum(p[:3])
        left = np.sum(
            p[:6]
        )  # of what top_k leaves, three tokens have enough; of all, they have not
        top_p = (max(high, low / left) + high / left) / 2
        settings = {"temperature": temperature, "top_p": float(top_p)}
        yield Case(drawn.inputs | settings, drawn.about)


def _rows(rng):
    yield _case(rng, "many rows at once", 1, 1.4, 6, 0.8)
    yield _case(rng, "two leading axes, temperature 0.7", 2, 0.7, None, 0.9)


PROBABILITIES = Exercise(
    name="next_token_probabilities",
    returns=("probabilities",),
    reference=lambda logits, temperature, top_k, top_p: {
        "probabilities": next_token_probabilities(logits, temperature, top_k, top_p)
    },
    claims=by_name(
        Claim(
            "temperature",
            "The temperature divides the logits, and nothing overflows.",
            _temperature,
            ("probabilities",),
        ),
        Claim("top_k", "With top_k exactly the k likeliest stay.", _top_k, ("probabilities",)),
        Claim(
            "top_p",
            "With top_p the smallest set of likeliest tokens stays that has this much together.",
            _top_p,
            ("probabilities",),
        ),
        Claim(
            "together",
            "Temperature first, then top_k, then top_p of what is left.",
            _together,
            ("probabilities",),
        ),
        Claim(
            "rows",
            "Each row of logits is treated by itself, and logits is left as it was.",
            _rows,
            ("probabilities",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
