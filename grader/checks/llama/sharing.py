"""Grouped queries: which key head serves which query head, and what comes back to it."""

import numpy as np

from grader.checks.attention.manners import keeps_dtype_of
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.llama.inputs import GROUPS
from transformer_block.heads import repeat_heads, repeat_heads_backward

SIZES = (5, 7, 11)


def _drawn(rng, n_heads, leading=(), sizes=None):
    S, K = sizes or rng.choice(SIZES, size=2, replace=False)
    return witness.rows(rng, (*leading, n_heads, int(S), int(K)))


def _forward(rng, H, H_kv, leading=(), sizes=None):
    return {"heads": _drawn(rng, H_kv, leading, sizes), "n_heads": H}


def _backward(rng, H, H_kv, leading=(), sizes=None):
    return {"drepeated": _drawn(rng, H, leading, sizes), "n_kv_heads": H_kv}


def _cases(draw):
    """Make the cases of both directions from the way to draw one."""

    def value(rng):
        yield Case(draw(rng, 4, 2), "4 query heads, 2 key heads")
        H, H_kv = GROUPS[1 + rng.integers(2)]
        yield Case(draw(rng, H, H_kv), f"{H} query heads, {H_kv} key heads")
        yield Case(draw(rng, 9, 3), "9 query heads, 3 key heads")
        for sizes in ((3, 6), (6, 3)):  # a count of heads taken for another size is right elsewhere
            yield Case(draw(rng, 6, 3, sizes=sizes), "6 query heads, 3 key heads, equal sizes")

    def leading(rng):
        yield Case(draw(rng, 6, 2, (2,)), "two sequences, 6 query heads, 2 key heads")
        yield Case(draw(rng, 6, 3, (2, 3)), "two leading axes, 6 query heads, 3 key heads")

    def ends(rng):
        yield Case(draw(rng, 5, 1), "one key head for all queries")
        yield Case(draw(rng, 3, 3), "as many key heads as query heads")

    def types(rng):
        inputs = draw(rng, 6, 2)
        single = {n: v.astype(np.float32) if np.ndim(v) else v for n, v in inputs.items()}
        yield Case(single, "float32", 1e-5)

    def untouched(rng):
        yield Case(draw(rng, 6, 2), "6 query heads, 2 key heads, looked at again")
        yield Case(draw(rng, 3, 3), "nothing to share, looked at again")

    return value, leading, ends, types, untouched


def _claims(draw, output, argument, sentences):
    """Make five claims about one output; the first argument gives the dtype."""
    judges = {"types": keeps_dtype_of(argument), "untouched": leaves_arguments}
    names = ("value", "leading", "ends", "types", "untouched")
    return by_name(
        *(
            Claim(name, says, cases, (output,), *([judges[name]] if name in judges else []))
            for name, says, cases in zip(names, sentences, _cases(draw), strict=True)
        )
    )


def _tiled(heads, n_heads):
    return _taken(heads, np.arange(n_heads) % heads.shape[-3])


def _reversed(heads, n_heads):
    order = np.repeat(np.arange(heads.shape[-3]), n_heads // heads.shape[-3])
    return _taken(heads, order[::-1])


def _taken(heads, order):
    return {"repeated": np.take(heads, order, axis=-3)}


def _tokens_repeated(heads, n_heads):
    """Repeat along the tokens, and force the result into the right shape."""
    *leading, H_kv, S, K = heads.shape
    along = np.repeat(heads, n_heads // H_kv, axis=-2)
    return {"repeated": along.reshape(*leading, n_heads, S, K)}


def _divided(heads, n_heads):
    right = repeat_heads(heads, n_heads)
    return {"repeated": right * heads.shape[-3] / n_heads}


def _left_alone(heads, n_heads):
    if heads.shape[-3] == n_heads:
        raise ValueError("there is nothing to repeat")
    return {"repeated": heads}


REPEAT = Exercise(
    name="repeat_heads",
    returns=("repeated",),
    reference=lambda heads, n_heads: {"repeated": repeat_heads(heads, n_heads)},
    claims=_claims(
        _forward,
        "repeated",
        "heads",
        (
            "Neighbouring query heads get the same key head.",
            "Any number of leading axes may stand in front.",
            "One key head for all, and one for each, are cases like others.",
            "float32 goes in and float32 comes out.",
            "The given heads are left as they were.",
        ),
    ),
    mistakes=(
        Mistake("tiled", "Which key head does query head 1 get: that of query head 0?", _tiled),
        Mistake("reversed", "Which key head does query head 0 get: the first?", _reversed),
        Mistake(
            "first_for_all",
            "Do the later query heads get another key head than the first ones?",
            lambda heads, n_heads: _taken(heads, np.zeros(n_heads, int)),
        ),
        Mistake(
            "tokens_repeated",
            "Look at one head of your result: do its rows belong to different tokens?",
            _tokens_repeated,
        ),
        Mistake(
            "divided",
            "Is a copy as large as what it is a copy of?",
            _divided,
        ),
        Mistake(
            "left_alone",
            "How many heads must your result have, and how many has it?",
            _left_alone,
        ),
    ),
)


def _groups(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    return drepeated.reshape(*leading, n_kv_heads, H // n_kv_heads, S, K)


def _grouped(formula):
    return lambda drepeated, n_kv_heads: {"dheads": formula(_groups(drepeated, n_kv_heads))}


def _summed_as_tiled(drepeated, n_kv_heads):
    *leading, H, S, K = drepeated.shape
    rounds = drepeated.reshape(*leading, H // n_kv_heads, n_kv_heads, S, K)
    return {"dheads": rounds.sum(axis=-4)}


def _first_heads(drepeated, n_kv_heads):
    return {"dheads": drepeated[..., :n_kv_heads, :, :]}


def _total(groups):
    whole = groups.sum(axis=(-4, -3), keepdims=True)
    return np.broadcast_to(whole, groups[..., :1, :, :].shape)[..., 0, :, :]


REPEAT_BACKWARD = Exercise(
    name="repeat_heads_backward",
    returns=("dheads",),
    reference=lambda drepeated, n_kv_heads: {
        "dheads": repeat_heads_backward(drepeated, n_kv_heads)
    },
    claims=_claims(
        _backward,
        "dheads",
        "drepeated",
        (
            "Each key head gets what all its copies were given.",
            "Any number of leading axes may stand in front.",
            "One key head for all, and one for each, are cases like others.",
            "float32 goes in and float32 comes out.",
            "The given gradient is left as it was.",
        ),
    ),
    mistakes=(
        Mistake(
            "averaged",
            "A value that is used three times: does it get a third of three gradients, or all?",
            _grouped(lambda g: g.mean(axis=-3)),
        ),
        Mistake(
            "one_copy",
            "How many copies of each head were used, and how many do you hear?",
            _grouped(lambda g: g[..., 0, :, :]),
        ),
        Mistake(
            "last_copy",
            "Does a later copy overwrite what an earlier one brought?",
            _grouped(lambda g: g[..., -1, :, :]),
        ),
        Mistake(
            "summed_as_tiled",
            "Which copies belong to key head 0: neighbours, or every second or third?",
            _summed_as_tiled,
        ),
        Mistake(
            "first_heads",
            "Are the first heads that arrive copies of different key heads?",
            _first_heads,
        ),
        Mistake(
            "summed_over_all",
            "Does every key head get the gradient of every query head?",
            _grouped(_total),
        ),
        Mistake(
            "largest_copy",
            "Gradients of several uses meet. Do you choose among them?",
            _grouped(lambda g: g.max(axis=-3)),
        ),
        Mistake(
            "root_of_copies",
            "Do you scale the sum by the number of copies?",
            _grouped(lambda g: g.sum(axis=-3) / g.shape[-3] ** 0.5),
        ),
    ),
)
