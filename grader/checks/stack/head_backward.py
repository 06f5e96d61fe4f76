"""The logits, backward: what goes on to the stream, and what reaches every row of E."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.companion import cache_of
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.stack.head import case, types, value
from grader.checks.stack.loss_pieces import soft
from transformer_block.embedding import logits_backward


def _back(rng, drawn):
    """Add a gradient of the logits; it is as random as the rest."""
    x, weight = drawn.inputs["x"], drawn.inputs["weight"]
    dlogits = witness.rows(rng, (*x.shape[:-1], len(weight))).astype(x.dtype)
    return Case({"dlogits": dlogits, **drawn.inputs}, drawn.about, drawn.tolerance)


def _value(rng):
    for drawn in value(rng):
        yield _back(rng, drawn)


def _types(rng):
    yield _back(rng, next(iter(types(rng))))


def _untouched(rng):
    yield _back(rng, case(rng, "ordinary rows, looked at again after the call", 2))


def _over_positions(dlogits, x):
    """Add one outer product for every position."""
    return np.einsum(
        "tv,ti->vi", dlogits.reshape(-1, dlogits.shape[-1]), x.reshape(-1, x.shape[-1])
    )


def _dx(formula):
    """Make a mistake in what goes on to the stream."""
    return lambda dlogits, x, weight: {"dx": formula(dlogits, x, weight)}


def _dweight(formula):
    """Make a mistake in what reaches E."""
    return lambda dlogits, x, weight: {"dweight": formula(dlogits, x)}


def _one_sequence(which):
    def formula(dlogits, x):
        if x.ndim < 3:
            raise ValueError("only several sequences show this mistake")
        at = (which,) * (x.ndim - 2)
        return _over_positions(dlogits[at], x[at])

    return formula


def _kept_apart(dlogits, x):
    """Leave the sequences' shares side by side."""
    if x.ndim < 3:
        raise ValueError("only several sequences show this mistake")
    return np.swapaxes(dlogits, -1, -2) @ x


MISTAKES = (
    Mistake(
        "dx_sign",
        "With which sign does a row of E go back into dx?",
        _dx(lambda dlogits, x, weight: -(dlogits @ weight)),
    ),
    Mistake(
        "dx_mean",
        "A row of x acts through all V logits. Are their shares added, or averaged?",
        _dx(lambda dlogits, x, weight: dlogits @ weight / len(weight)),
    ),
    Mistake(
        "dx_scaled",
        "Is there a √d in the forward pass? There is one in your dx.",
        _dx(lambda dlogits, x, weight: dlogits @ weight / x.shape[-1] ** 0.5),
    ),
    Mistake(
        "dx_through_softmax",
        "Did the forward pass end with a softmax? You go back through one.",
        _dx(lambda dlogits, x, weight: _pull(dlogits, x @ weight.T) @ weight),
    ),
    Mistake(
        "dx_likeliest",
        "Through how many logits does a row of x act? You follow the largest alone.",
        _dx(lambda dlogits, x, weight: (dlogits * _largest(x @ weight.T)) @ weight),
    ),
    Mistake(
        "dweight_mean",
        "All positions use the same E. Are their shares added, or averaged?",
        _dweight(lambda dlogits, x: _over_positions(dlogits, x) * x.shape[-1] / x.size),
    ),
    Mistake(
        "dweight_scaled",
        "Is there a √d in the forward pass? There is one in your dweight.",
        _dweight(lambda dlogits, x: _over_positions(dlogits, x) / x.shape[-1] ** 0.5),
    ),
    Mistake(
        "dweight_transposed",
        "Which shape has E, and which has your gradient of it?",
        _dweight(lambda dlogits, x: _over_positions(dlogits, x).T),
    ),
    Mistake(
        "dweight_last_position",
        "Which positions had logits? Is there a share of each in your dweight?",
        _dweight(lambda dlogits, x: _over_positions(dlogits[..., -1:, :], x[..., -1:, :])),
    ),
    Mistake(
        "dweight_first_sequence",
        "Do all sequences have their say in dweight, or only the first?",
        _dweight(_one_sequence(0)),
    ),
    Mistake(
        "dweight_last_sequence",
        "Do all sequences have their say in dweight, or only the last?",
        _dweight(_one_sequence(-1)),
    ),
    Mistake(
        "dweight_not_summed",
        "There is one E for all sequences. What becomes of their shares of its gradient?",
        _dweight(_kept_apart),
    ),
    Mistake(
        "dweight_sign",
        "With which sign does a position's row enter dweight?",
        _dweight(lambda dlogits, x: -_over_positions(dlogits, x)),
    ),
    Mistake(
        "order",
        "In which order do you return the two gradients?",
        lambda dlogits, x, weight: {
            "dx": _over_positions(dlogits, x),
            "dweight": dlogits @ weight,
        },
    ),
)


def _largest(logits):
    return logits == np.max(logits, axis=-1, keepdims=True)


def _pull(dlogits, logits):
    p = soft(logits)
    return p * (dlogits - np.sum(p * dlogits, axis=-1, keepdims=True))


def _reference(dlogits, x, weight):
    dx, dweight = logits_backward(dlogits, (x, weight))
    return {"dx": dx, "dweight": dweight}


def _arguments(inputs, companions):
    """Pass the cache of the library, or the one that the learner's own forward makes."""
    x, weight = inputs["x"], inputs["weight"]
    yield {"dlogits": inputs["dlogits"], "cache": (x, weight)}
    if "forward" in companions:
        for made in cache_of(companions["forward"], inputs["dlogits"], x, weight):
            yield {"dlogits": made["dout"], "cache": made["cache"]}


BOTH = ("dx", "dweight")


BACKWARD = Exercise(
    name="logits_backward",
    returns=BOTH,
    reference=_reference,
    claims=by_name(
        Claim("dx", "dx adds up what comes back from every token's logit.", _value, ("dx",)),
        Claim(
            "dweight",
            "dweight is a sum over all positions, and no row is left out.",
            _value,
            ("dweight",),
        ),
        Claim("types", "float32 goes in and float32 comes out.", _types, BOTH, keeps_dtype),
        Claim(
            "untouched",
            "The arguments are left as they were.",
            _untouched,
            BOTH,
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
    arguments=_arguments,
    companions={"forward": "logits_forward"},
)
