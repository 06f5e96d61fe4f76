"""The whole stack with tied weights: its loss, and a gradient for every parameter."""

from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.stack.inputs import stack
from grader.checks.stack.whole_mistakes import BLOCKS, MISTAKES, N_BLOCKS
from transformer_block._trees import flatten
from transformer_block.decoder import loss_and_gradients


def _case(rng, about, leading=1):
    return Case(stack(rng, N_BLOCKS, leading), about)


def _value(rng):
    yield _case(rng, "a stack of two blocks, three texts")
    yield _case(rng, "a stack of two blocks, one text without leading axes", 0)


def _one_value(rng):
    yield _case(rng, "a stack of two blocks, three texts")


def _untouched(rng):
    yield _case(rng, "a stack of two blocks, looked at again after the call")


def reference(ids, params, n_heads):
    """Let the library run the stack on the pairs; causality makes the last position idle."""
    loss, grads = loss_and_gradients(ids[..., :-1], ids[..., 1:], params, n_heads)
    return {"loss": loss, **flatten(grads)}


WHOLE = Exercise(
    name="tied_loss_and_gradients",
    returns=("loss", "**grads"),
    reference=reference,
    claims=by_name(
        Claim(
            "loss",
            "The loss is that of look-up, blocks, final norm and tied logits.",
            _value,
            ("loss",),
        ),
        Claim(
            "blocks",
            "Every block and the final norm get their gradients, in the order of the stack.",
            _one_value,
            ("final_norm", *BLOCKS),
        ),
        Claim(
            "embedding",
            "E gets both its gradients, and every position of an id counts.",
            _value,
            ("embedding",),
        ),
        Claim(
            "untouched",
            "Neither ids nor params is written into.",
            _untouched,
            ("loss", "embedding"),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
