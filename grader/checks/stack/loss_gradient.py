"""The gradient of the loss: p less one-hot of the next token, divided by the count."""

import numpy as np

from grader.checks.engine.exercise import Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.stack import loss_pieces as pieces
from grader.checks.stack.loss_cases import EVEN, case, lifted, sharp, surprised, towering
from transformer_block.loss import cross_entropy_backward, cross_entropy_forward


def _rows(rng):
    yield case(rng, "one text", 0)
    yield case(rng, "three texts")


def _mean(rng):
    yield case(rng, "three texts")
    yield case(rng, "two leading axes", 2)


def _large(rng):
    yield lifted(rng, 2000.0, "2000 added to all logits")
    yield lifted(rng, 2000.0, "2000 added to the logits of every second position", EVEN)
    yield surprised(rng)
    yield sharp(rng)
    yield towering(rng, further=1)


def _grad(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda logits, ids: {"dlogits": pieces.gradient_of(logits, ids, **knobs)}


def _naive_soft(logits):
    e = np.exp(logits)
    return e / np.sum(e, axis=-1, keepdims=True)


def _full_last(logits, ids):
    """Give the last position a target of zeros: p is left there."""
    dlogits = pieces.gradient_of(logits, ids)
    dlogits[..., -1, :] = pieces.soft(logits[..., -1, :]) / ids[..., 1:].size
    return {"dlogits": dlogits}


def _across_texts(logits, ids):
    """Lay all texts end to end and take the shape back."""
    kept, targets = pieces.across_texts(logits, ids)
    rows = (pieces.soft(kept) - np.eye(logits.shape[-1])[targets]) / targets.size
    return {"dlogits": np.concatenate([rows, 0 * rows[:1]]).reshape(logits.shape)}


def _of_jacobian(p, hot):
    """Send p − one-hot through the softmax once more."""
    g = p - hot
    return p * (g - np.sum(p * g, axis=-1, keepdims=True))


def _count(formula):
    """Make a mistake in the number that divides the gradient."""
    return _grad(count=formula)


MISTAKES = (
    Mistake(
        "not_divided",
        "The loss is a mean. Where is its count in your gradient?",
        _count(lambda targets, logits: 1),
    ),
    Mistake(
        "divided_by_T",
        "T positions give how many pairs? By which number do you divide?",
        _count(lambda targets, logits: targets.size // targets.shape[-1] * logits.shape[-2]),
    ),
    Mistake(
        "divided_by_sequences",
        "You divide by the number of sequences. Over how many pairs does the loss average?",
        _count(lambda targets, logits: targets.size // targets.shape[-1]),
    ),
    Mistake(
        "divided_by_length",
        "You divide by the pairs of one sequence. How many sequences are there?",
        _count(lambda targets, logits: targets.shape[-1]),
    ),
    Mistake(
        "divided_by_everything",
        "Does the size of the vocabulary divide the loss? It divides your gradient.",
        _count(lambda targets, logits: targets.size * logits.shape[-1]),
    ),
    Mistake(
        "not_shifted",
        "At which id does your row lose its one: the one that was read, or the one that follows?",
        _grad(pairs=pieces.same_place),
    ),
    Mistake(
        "shifted_twice",
        "How many places lie between a position and its target? Is the shift made twice?",
        _grad(pairs=pieces.two_on),
    ),
    Mistake(
        "shifted_back",
        "Does position t foretell the token after it, or the one before?",
        _grad(pairs=pieces.backwards, start=1),
    ),
    Mistake(
        "one_row_late",
        "In which row does the gradient of the first pair stand: row 0, or row 1?",
        _grad(start=1),
    ),
    Mistake(
        "round_the_end",
        "Does the last position foretell anything? What gradient should its logits get?",
        _grad(pairs=pieces.round_the_end),
    ),
    Mistake(
        "last_row_full",
        "The last logits have no part in the loss. What is their gradient?",
        _full_last,
    ),
    Mistake(
        "last_pair",
        "How many positions foretell something? Do they all get a gradient?",
        _grad(pairs=pieces.last_pair, start=-2),
    ),
    Mistake(
        "across_texts",
        "Does the last position of a text foretell the first token of the next text?",
        _across_texts,
    ),
    Mistake(
        "sign",
        "Should a step against the gradient raise the target's logit or lower it?",
        _grad(minus=lambda p, hot: hot - p),
    ),
    Mistake(
        "p_alone",
        "What do the entries of a row add up to? Where does the target come in?",
        _grad(minus=lambda p, hot: p),
    ),
    Mistake(
        "p_less_one_everywhere",
        "At how many entries of a row is one taken away?",
        _grad(minus=lambda p, hot: p - 1),
    ),
    Mistake(
        "target_alone",
        "Do the logits of the other tokens get no gradient? They are in the normaliser.",
        _grad(minus=lambda p, hot: (p - 1) * hot),
    ),
    Mistake(
        "only_the_others",
        "What gradient does the logit of the target itself get?",
        _grad(minus=lambda p, hot: p * (1 - hot)),
    ),
    Mistake(
        "softmax_slope",
        "p (1 − p) is the slope of what? Is the loss p, or its logarithm?",
        _grad(minus=lambda p, hot: p * (1 - p)),
    ),
    Mistake(
        "softmax_backward_again",
        "p − one-hot is the gradient at the logits already. Does a softmax follow once more?",
        _grad(minus=_of_jacobian),
    ),
    Mistake(
        "at_probabilities",
        "With respect to what is this the gradient: the probabilities, or the logits?",
        _grad(minus=lambda p, hot: -hot / p),
    ),
    Mistake(
        "logs_for_p",
        "Do you take one from the probability, or from its logarithm?",
        _grad(minus=lambda p, hot: np.log(p) - hot),
    ),
    Mistake(
        "logits_for_p",
        "Is it the logits or the probabilities that the one is taken from?",
        _grad(probabilities=lambda logits: logits),
    ),
    Mistake(
        "over_positions",
        "Over which axis does your softmax add up to one: the vocabulary?",
        _grad(probabilities=lambda logits: pieces.soft(logits, axis=-2)),
    ),
    Mistake(
        "overflows",
        "What is the exponential of 2000? Which number can be taken from a row before it?",
        _grad(probabilities=_naive_soft),
    ),
    Mistake(
        "one_maximum",
        "You take one largest logit for all positions. What is left of a row 2000 below it?",
        _grad(probabilities=lambda logits: _naive_soft(logits - np.max(logits))),
    ),
    Mistake(
        "mean_taken_away",
        "What do you take from a row of logits? How large can the largest that is left still be?",
        _grad(probabilities=lambda z: _naive_soft(z - np.mean(z, axis=-1, keepdims=True))),
    ),
)


def _reference(logits, ids):
    """Let the library differentiate; the last position, which has no target, gets zeros."""
    _, cache = cross_entropy_forward(logits[..., :-1, :], ids[..., 1:])
    dlogits = np.zeros(logits.shape)
    dlogits[..., :-1, :] = cross_entropy_backward(1.0, cache)
    return {"dlogits": dlogits}


def _untouched(rng):
    yield case(rng, "ordinary logits, looked at again after the call", 2)


GRADIENT = Exercise(
    name="next_token_gradient",
    returns=("dlogits",),
    reference=_reference,
    claims=by_name(
        Claim(
            "rows",
            "Each row is p less one at the next token; the last row is zero.",
            _rows,
            ("dlogits",),
        ),
        Claim("mean", "The gradient is that of a mean over all pairs.", _mean, ("dlogits",)),
        Claim(
            "large",
            "Logits of any size give the right gradient, by a formula and not by differences.",
            _large,
            ("dlogits",),
        ),
        Claim(
            "untouched",
            "The arguments are left as they were.",
            _untouched,
            ("dlogits",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
