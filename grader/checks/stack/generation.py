"""Writing on: the stack on the prefix, the last position's logits, a choice, and again."""

import contextlib

import numpy as np

from grader.checks.engine.calling import Unusable
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import Fault, agrees, leaves_arguments
from grader.checks.stack.generation_mistakes import MISTAKES, generator, write_on
from grader.checks.stack.inputs import stack
from transformer_block.decoder import decoder_forward

PLAIN = {"temperature": 0.0, "top_k": None, "top_p": 1.0}


def _case(rng, about, n_new, seed=None, **choice):
    inputs = stack(rng, 1, 0)
    return Case({**inputs, "n_new": n_new, "seed": seed, **PLAIN, **choice}, about)


def _lively(rng):
    """Draw a stack that writes several tokens, and whose largest logit in size is negative."""
    while True:
        case = _case(rng, "greedy, 5 new tokens", 5)
        params, ids = case.inputs["params"], case.inputs["ids"]
        last = decoder_forward(ids, params, case.inputs["n_heads"])[0][-1]
        sign = 1.0 if -last.min() > last.max() else -1.0
        changed = {"params": {**params, "final_norm": sign * params["final_norm"]}}
        case = Case(case.inputs | changed, case.about)
        if len({*write_on(**case.inputs)[len(ids) :].tolist()}) > 2:
            return case


def _seed(rng):
    return int(rng.integers(100, 1_000_000))


def _greedy(rng):
    yield _lively(rng)
    yield _case(rng, "greedy, one new token", 1)
    yield _case(rng, "greedy, nothing new", 0)


def _sampled(rng):
    warm = float(rng.uniform(2.5, 4.0))
    yield _case(rng, f"11 tokens drawn at temperature {warm:.2f}", 11, _seed(rng), temperature=warm)


def _filtered(rng):
    choice = {"temperature": 6.0, "top_k": int(rng.integers(5, 8)), "top_p": 0.7}
    yield _case(rng, "13 tokens drawn with top-k and top-p", 13, _seed(rng), **choice)


def _untouched(rng):
    yield _case(rng, "drawn, looked at again after the call", 3, _seed(rng), temperature=1.3)


def arguments(inputs, companions=None):
    """Put a fresh generator in the place of its seed."""
    order = ("ids", "params", "n_heads", "n_new", "rng", "temperature", "top_k", "top_p")
    inputs = {**inputs, "rng": generator(inputs["seed"])}
    return [{name: inputs[name] for name in order}]


def _same_twice(trial):
    """Find a draw that does not come from the generator that was given; then compare."""
    first, second = (np.asarray(reply.outputs["out"]) for reply in (trial.reply, trial.again()))
    if first.shape != second.shape or not np.array_equal(first, second):
        return Fault(
            "Two calls with generators in the same state gave two texts.",
            "Does every random number come from the rng that is given? "
            "np.random.random and np.random.choice draw from another one.",
            "rng_ignored",
        )
    fault = agrees(trial)
    return _deaf(trial, first) or fault if fault and not fault.question else fault


def _deaf(trial, first):
    """Find a text that is the same whatever generator is given."""
    others = ({**trial.inputs, "seed": trial.inputs["seed"] + more} for more in (1, 2))
    with contextlib.suppress(Unusable):
        texts = [trial.ask(arguments(other)[0])["out"] for other in others]
        if all(np.array_equal(first, text) for text in texts):
            return Fault(
                "Generators in three states gave the same text.",
                "Where do your random numbers come from: the rng that is given, "
                "or one that you make yourself?",
                "rng_ignored",
            )
    return None


GENERATION = Exercise(
    name="continue_ids",
    returns=("out",),
    reference=lambda **inputs: {"out": write_on(**inputs)},
    claims=by_name(
        Claim(
            "greedy",
            "At temperature zero each new token is the likeliest after all before it.",
            _greedy,
            ("out",),
        ),
        Claim(
            "sampled",
            "Above temperature zero each token is drawn by one number of rng.",
            _sampled,
            ("out",),
            _same_twice,
        ),
        Claim(
            "filtered", "The draw respects top_k and top_p.", _filtered, ("out",), _same_twice
        ),
        Claim(
            "untouched",
            "Neither ids nor params is written into.",
            _untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
    arguments=arguments,
)  # fmt: skip
