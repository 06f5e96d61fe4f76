"""The loss: −log p of the token that follows, averaged over all that have a next one."""

import numpy as np

from grader.checks.engine.exercise import Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.stack import loss_pieces as pieces
from grader.checks.stack.loss_cases import EVEN, case, lifted, surprised, towering
from transformer_block.loss import cross_entropy_forward


def _shift(rng):
    yield case(rng, "one text", 0)
    yield case(rng, "one text of another draw, sharper logits", 0, 2.0)


def _mean(rng):
    yield case(rng, "three texts")
    yield case(rng, "two leading axes", 2)


def _large(rng):
    yield lifted(rng, 2000.0, "2000 added to all logits")
    yield lifted(rng, -2000.0, "2000 taken from the logits of every second position", EVEN)
    yield surprised(rng)
    yield towering(rng)


def _untouched(rng):
    yield case(rng, "ordinary logits, looked at again after the call", 2)


def reference(logits, ids):
    """Let the library compare the shifted pairs."""
    return {"loss": cross_entropy_forward(logits[..., :-1, :], ids[..., 1:])[0]}


def _loss(**knobs):
    """Make a mistake of a wrong knob."""
    return lambda logits, ids: {"loss": pieces.loss_of(logits, ids, **knobs)}


def _after(change):
    """Make a mistake in what becomes of the −log p of all pairs."""
    return _loss(average=change)


MISTAKES = (
    Mistake(
        "not_shifted",
        "Which token should position t foretell: the one that it has read itself?",
        _loss(pairs=pieces.same_place),
    ),
    Mistake(
        "shifted_twice",
        "How many places lie between a position and its target? Is the shift made twice?",
        _loss(pairs=pieces.two_on),
    ),
    Mistake(
        "shifted_back",
        "Does position t foretell the token after it, or the one before?",
        _loss(pairs=pieces.backwards),
    ),
    Mistake(
        "round_the_end",
        "Which token follows the last one? Is the first one meant to?",
        _loss(pairs=pieces.round_the_end),
    ),
    Mistake(
        "last_pair",
        "How many positions foretell something? Do you count them all?",
        _loss(pairs=pieces.last_pair),
    ),
    Mistake(
        "first_sequence",
        "Do all sequences count in your loss?",
        _loss(pairs=pieces.first_of_several),
    ),
    Mistake(
        "across_texts",
        "Is the first token of a text foretold by the last one of the text before?",
        _loss(pairs=pieces.across_texts),
    ),
    Mistake(
        "every_target_everywhere",
        "Each position has one target. How many entries of its row do you take?",
        lambda logits, ids: {"loss": _every_target(*pieces.next_ones(logits, ids))},
    ),
    Mistake(
        "summed",
        "Is the loss a sum over the pairs, or their mean?",
        _after(np.sum),
    ),
    Mistake(
        "divided_by_T",
        "T positions give how many pairs? By which number do you divide?",
        _after(lambda losses: np.mean(np.sum(losses, axis=-1)) / (losses.shape[-1] + 1)),
    ),
    Mistake(
        "summed_over_time",
        "You average over the sequences. What do you do with the positions of one?",
        _after(lambda losses: np.mean(np.sum(losses, axis=-1))),
    ),
    Mistake(
        "summed_over_sequences",
        "You average over the positions. What do you do with the sequences?",
        _after(lambda losses: np.sum(np.mean(losses, axis=-1))),
    ),
    Mistake(
        "divided_by_V",
        "Does the size of the vocabulary divide the loss? Only one entry of a row counts.",
        lambda logits, ids: {"loss": pieces.loss_of(logits, ids) / logits.shape[-1]},
    ),
    Mistake(
        "bits",
        "To which base is your logarithm?",
        _after(lambda losses: np.mean(losses) / np.log(2)),
    ),
    Mistake(
        "decimal",
        "Is your logarithm the natural one?",
        _after(lambda losses: np.mean(losses) / np.log(10)),
    ),
    Mistake(
        "perplexity",
        "Is the loss asked for, or its exponential?",
        _after(lambda losses: np.exp(np.mean(losses))),
    ),
    Mistake(
        "sign",
        "Which sign has the logarithm of a probability? And a loss?",
        _after(lambda losses: -np.mean(losses)),
    ),
    Mistake(
        "no_logarithm",
        "What is averaged: probabilities, or their logarithms?",
        _after(lambda losses: -np.mean(np.exp(-losses))),
    ),
    Mistake(
        "one_less_p",
        "What does a token cost whose probability was 1e-26: about 1, or far more?",
        _after(lambda losses: np.mean(1 - np.exp(-losses))),
    ),
    Mistake(
        "mean_before_log",
        "Which comes first, the logarithm or the mean?",
        _after(lambda losses: -np.log(np.mean(np.exp(-losses)))),
    ),
    Mistake(
        "floor",
        "Is anything added to the probability before its logarithm? What does it do to 1e-26?",
        _after(lambda losses: np.mean(-np.log(np.exp(-losses) + 1e-12))),
    ),
    Mistake(
        "no_softmax",
        "Are logits probabilities? What is missing between them and the loss?",
        _loss(logs=lambda logits: logits),
    ),
    Mistake(
        "no_normaliser",
        "You take the largest logit away. Where is the logarithm of the sum?",
        _loss(logs=lambda logits: logits - np.max(logits, axis=-1, keepdims=True)),
    ),
    Mistake(
        "over_positions",
        "Over which axis does your softmax add up to one: the vocabulary?",
        _loss(logs=lambda logits: pieces.log_soft(logits, axis=-2)),
    ),
    Mistake(
        "softmax_twice",
        "How often does a softmax act on the logits? Is one inside the other?",
        _loss(logs=lambda logits: pieces.log_soft(pieces.soft(logits))),
    ),
    Mistake(
        "all_classes",
        "How many entries of a row enter the loss beside the normaliser? "
        "You seem to count the tokens that did not come as well.",
        lambda logits, ids: {"loss": _binary(*pieces.next_ones(logits, ids))},
    ),
    Mistake(
        "overflows",
        "What is the exponential of 2000? Which number can be taken from a row before it?",
        _loss(logs=pieces.log_naive),
    ),
    Mistake(
        "one_maximum",
        "You take one largest logit for all positions. What is left of a row 2000 below it?",
        _loss(logs=pieces.log_one_maximum),
    ),
    Mistake(
        "mean_taken_away",
        "What do you take from a row of logits? How large can the largest that is left still be?",
        _loss(logs=lambda z: pieces.log_naive(z - np.mean(z, axis=-1, keepdims=True))),
    ),
)


def _every_target(logits, targets):
    """Index each row by the targets of all positions at once."""
    return -np.mean(pieces.log_soft(logits)[..., targets])


def _binary(logits, targets):
    """Add to −log p of the target the −log(1 − p) of all other tokens."""
    p = pieces.soft(logits)
    hot = np.eye(logits.shape[-1])[targets]
    return -np.mean(np.sum(hot * np.log(p) + (1 - hot) * np.log1p(-p), axis=-1))


LOSS = Exercise(
    name="next_token_loss",
    returns=("loss",),
    reference=reference,
    claims=by_name(
        Claim("shift", "Each position is compared with the token after it.", _shift, ("loss",)),
        Claim(
            "mean", "The loss is the mean over all pairs of all sequences.", _mean, ("loss",)
        ),
        Claim(
            "large",
            "Logits of any size give the right loss, and so does a great surprise.",
            _large,
            ("loss",),
        ),
        Claim(
            "untouched",
            "The arguments are left as they were.",
            _untouched,
            ("loss",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
