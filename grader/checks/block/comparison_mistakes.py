"""Ways in which a gradient check says too little, or says it of the wrong tensor."""

import numpy as np

from grader.checks.block.distance import FORMULAS
from grader.checks.block.errors import clear
from grader.checks.engine.exercise import Mistake
from transformer_block.gradcheck import STEP, gradient_check, numerical_gradient


def _differences(loss, tensors, step):
    return {
        name: numerical_gradient(lambda t, name=name: loss({**tensors, name: t}), tensor, step)
        for name, tensor in tensors.items()
    }


def _compared(name, question, formula):
    """Make a mistake that compares each tensor by another formula."""

    def outputs(loss, tensors, gradients, step=STEP):
        found = _differences(loss, tensors, step)
        pairs = {n: (found[n], gradients[n]) for n in found if np.any(gradients[n])}
        return clear({n: formula(a, b, a - b) for n, (a, b) in pairs.items()})

    return Mistake(name, question, outputs)


def _pooled(join):
    """Make a mistake that gives every tensor the same error."""

    def outputs(loss, tensors, gradients, step=STEP):
        found = _differences(loss, tensors, step)
        return clear(dict.fromkeys(tensors, join(found, gradients)))

    return outputs


def _one_length(found, gradients):
    a, b = (np.concatenate([t[n].ravel() for n in found]) for t in (found, gradients))
    return FORMULAS["over_mean"](a, b, a - b) / 2


def _each(found, gradients):
    return [FORMULAS["over_mean"](a, b, a - b) / 2 for a, b in _pairs(found, gradients)]


def _pairs(found, gradients):
    return [(found[n], gradients[n]) for n in found if np.any(found[n]) or np.any(gradients[n])]


def _left_moved(loss, tensors, gradients, step=STEP):
    """Leave each tensor where the last evaluation has it."""
    if step == STEP:
        raise ValueError("only a large step shows this mistake")
    held, errors = dict(tensors), {}
    for name, tensor in tensors.items():
        found = numerical_gradient(lambda t, n=name: loss({**held, n: t}), tensor, step)
        errors[name] = FORMULAS["over_mean"](found, gradients[name], found - gradients[name]) / 2
        held[name] = np.array(tensor, dtype=np.float64)
        held[name].flat[-1] -= step * max(1.0, abs(held[name].flat[-1]))
    return clear(errors)


def _first_entries(a, b, c):
    a, b = a.ravel()[0], b.ravel()[0]
    return abs(a - b) / (abs(a) + abs(b))


def _rotated(loss, tensors, gradients, step=STEP):
    """Give each tensor the error of the next one."""
    errors = gradient_check(loss, tensors, gradients, step)
    names = list(errors)
    return {name: errors[names[(i + 1) % len(names)]] for i, name in enumerate(names)}


def _nan_at_zero(loss, tensors, gradients, step=STEP):
    if any(np.any(gradient) for gradient in gradients.values()):
        silent = [name for name, gradient in gradients.items() if not np.any(gradient)]
        errors = gradient_check(loss, tensors, gradients, step)
        lost = {name: np.nan for name in silent if errors[name] == 0}
        if lost:
            return lost
    raise ValueError("only a gradient of zero shows this mistake")


QUESTIONS = {
    "absolute": "Is a tensor's error set against the size of its gradients?",
    "over_first": "By which length do you divide: that of the differences alone?",
    "over_second": "By which length do you divide: that of the given gradient alone?",
    "over_larger": "By which length do you divide: the larger of the two?",
    "squared": "Do you compare lengths, or their squares?",
    "sums": "Can errors of opposite sign cancel within a tensor?",
    "lengths": "Do you compare the gradients, or only how long they are?",
    "direction": "What does your check say of a gradient that is doubled?",
    "signs_dropped": "What does your check say of a gradient with the wrong sign?",
    "worst_entry": "Is a tensor's error that of its worst entry?",
    "largest_entry": "Do you measure a tensor by its length, or by its largest entry?",
}

MISTAKES = (
    *(_compared(name, QUESTIONS[name], FORMULAS[name]) for name in QUESTIONS),
    Mistake(
        "one_length",
        "Is every tensor compared by itself? In one long row a small one hides.",
        _pooled(_one_length),
    ),
    Mistake(
        "worst_for_all",
        "Whose error is stored under each name?",
        _pooled(lambda found, gradients: max(_each(found, gradients))),
    ),
    Mistake(
        "mean_for_all",
        "Why do all tensors get the same error?",
        _pooled(lambda found, gradients: float(np.mean(_each(found, gradients)))),
    ),
    _compared(
        "first_entry",
        "How many entries of each tensor do you compare?",
        _first_entries,
    ),
    Mistake(
        "names_moved",
        "Is each error stored under the name of its own tensor?",
        lambda **inputs: clear(_rotated(**inputs)),
    ),
    Mistake(
        "left_moved",
        "Where does a tensor stand when the next one is moved?",
        _left_moved,
    ),
    Mistake(
        "nan_at_zero",
        "What does your comparison give for two gradients of zero?",
        _nan_at_zero,
    ),
)
