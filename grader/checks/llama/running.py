"""A whole model, run with a block that is handed in: the scores of the next token."""

import numpy as np

from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import Fault, leaves_arguments, values_first
from grader.checks.llama.inputs import model, tokens
from transformer_block._trees import tree_map
from transformer_block.block import transformer_block_forward
from transformer_block.contrasts import contrast_block_forward
from transformer_block.embedding import logits_forward
from transformer_block.rmsnorm import rmsnorm_forward


def post_norm_block(x, params, n_heads, rope_base=10_000.0, eps=1e-5, positions=None):
    """Run another block than the library's, to see whether the given one is used."""
    return contrast_block_forward(x, params, n_heads, rope_base, eps, positions, order="post")


def _inputs(rng, n_layers=None, head=False, T=6):
    params, n_heads = model(rng, n_layers=n_layers, head=head)
    ids = tokens(rng, params, T)
    return {
        "ids": ids, "params": params, "block_forward": transformer_block_forward,
        "n_heads": n_heads,
    }  # fmt: skip


def _value(rng):
    yield Case(_inputs(rng), "a model with tied weights")
    yield Case(_inputs(rng, n_layers=1), "a model of one block")


def _given_block(rng):
    inputs = _inputs(rng) | {"block_forward": post_norm_block}
    yield Case(inputs, "the block that is handed in is a post-norm block")


def _head(rng):
    yield Case(_inputs(rng, head=True), "a model with a head of its own")


def _settings(rng):
    inputs = _inputs(rng)
    inputs["params"]["embedding"] = inputs["params"]["embedding"] * 0.3
    yield Case(inputs | {"rope_base": 30.0, "eps": 0.1}, "base 30, ε = 0.1, a small stream")


def _types(rng):
    inputs = _inputs(rng)
    single = tree_map(lambda a: a.astype(np.float32), inputs["params"])
    yield Case(inputs | {"params": single}, "all weights in float32", 1e-4)


def _keeps_dtype(trial):
    wanted = trial.inputs["params"]["embedding"].dtype
    got = np.asarray(trial.reply.outputs.get("logits")).dtype
    if got != wanted:
        return Fault(
            f"The weights are {wanted}, but logits came back as {got}.",
            "The answer has another dtype than the embedding. Which line brings it in?",
            "dtype_leaks",
        )
    return values_first(trial)


def _untouched(rng):
    yield Case(_inputs(rng), "a model with tied weights, looked at again after the call")


def _run(
    ids, params, block_forward, n_heads, rope_base=10_000.0, eps=1e-5, *,
    blocks=lambda blocks: blocks, scale=1.0, place=-1, block_eps=None, final_eps=None,
    final=rmsnorm_forward, head="head", add=0.0,
):  # fmt: skip
    """Compute the logits with one thing done another way."""
    x = params["embedding"][ids] * scale
    for block in blocks(params["blocks"]):
        own_eps = eps if block_eps is None else block_eps
        x = add * x + block_forward(x, block, n_heads, rope_base, own_eps)[0]
    out, _ = final(x, params["final_norm"], eps if final_eps is None else final_eps)
    return {"logits": logits_forward(out, params.get(head, params["embedding"]))[0][place]}


def _with(**knobs):
    return lambda **inputs: _run(**inputs, **knobs)


def _changed(**changed):
    return lambda **inputs: _run(**{**inputs, **changed})


def _fixed(name, **knobs):
    """Make a mistake that only an argument of this name shows."""

    def outputs(**inputs):
        if name not in inputs:
            raise ValueError(f"only another {name} shows this mistake")
        return _run(**inputs, **knobs)

    return outputs


def _base_ignored(**inputs):
    if "rope_base" not in inputs:
        raise ValueError("only another base shows this mistake")
    return _run(**{**inputs, "rope_base": 10_000.0})


def _without_gain(x, weight, eps):
    return rmsnorm_forward(x, np.ones_like(weight), eps)


def _twice(x, weight, eps):
    return rmsnorm_forward(rmsnorm_forward(x, weight, eps)[0], weight, eps)


def _probabilities(**inputs):
    logits = _run(**inputs)["logits"]
    e = np.exp(logits - logits.max())
    return {"logits": e / e.sum()}


def _scaled(**inputs):
    return _run(**inputs, scale=inputs["params"]["embedding"].shape[1] ** 0.5)


def _head_ignored(**inputs):
    if "head" not in inputs["params"]:
        raise ValueError("only a head of its own shows this mistake")
    return _run(**inputs, head="no head")


RUNNING = Exercise(
    name="next_token_logits",
    returns=("logits",),
    reference=_run,
    claims=by_name(
        Claim("value", "The logits are those of the last position.", _value, ("logits",)),
        Claim("given_block", "The block that is handed in is used.", _given_block, ("logits",)),
        Claim("head", "A head of its own takes the embedding's place.", _head, ("logits",)),
        Claim("settings", "The base and ε reach every part.", _settings, ("logits",)),
        Claim(
            "types", "The logits have the dtype of the weights.", _types, ("logits",), _keeps_dtype
        ),
        Claim(
            "untouched",
            "The ids and the weights are left as they were.",
            _untouched,
            ("logits",),
            leaves_arguments,
        ),
    ),
    mistakes=(
        Mistake(
            "no_final_norm",
            "What stands between the last block and the logits?",
            _with(final=lambda x, weight, eps: (x, None)),
        ),
        Mistake("final_gain_lost", "Has your final norm its gain?", _with(final=_without_gain)),
        Mistake("final_norm_twice", "How often is the end normalised?", _with(final=_twice)),
        Mistake("first_position", "Whose next token is asked for?", _with(place=0)),
        Mistake(
            "last_but_one", "Is your position the last one, or the one before?", _with(place=-2)
        ),
        Mistake(
            "reversed",
            "In which order does the stream meet the blocks?",
            _with(blocks=lambda blocks: blocks[::-1]),
        ),
        Mistake(
            "first_block_for_all",
            "Has every block its own weights in your loop?",
            _with(blocks=lambda blocks: blocks[:1] * len(blocks)),
        ),
        Mistake(
            "last_block_left_out",
            "How many blocks does your stream pass?",
            _with(blocks=lambda blocks: blocks[:-1]),
        ),
        Mistake(
            "first_block_left_out",
            "Which block is the first that your stream passes?",
            _with(blocks=lambda blocks: blocks[1:]),
        ),
        Mistake(
            "only_first_block",
            "After how many blocks does your function return?",
            _with(blocks=lambda blocks: blocks[:1]),
        ),
        Mistake(
            "library_block",
            "Which block do you call: the one that is handed in?",
            _changed(block_forward=transformer_block_forward),
        ),
        Mistake(
            "residual_again",
            "Does a block return what it writes, or the stream after it? You add x once more.",
            _with(add=1.0),
        ),
        Mistake("scaled", "Is an embedded row scaled before the first block?", _scaled),
        Mistake("probabilities", "Logits are asked for. What do you return?", _probabilities),
        Mistake("head_ignored", "Does the model have a head of its own?", _head_ignored),
        Mistake("base_ignored", "Does every block hear which base it has?", _base_ignored),
        Mistake(
            "eps_ignored",
            "Does every norm hear which ε it has?",
            _fixed("eps", block_eps=1e-5, final_eps=1e-5),
        ),
        Mistake(
            "eps_in_blocks_alone",
            "Which norm does not hear the ε that is passed?",
            _fixed("eps", final_eps=1e-5),
        ),
        Mistake(
            "eps_at_the_end_alone",
            "Which norms do not hear the ε that is passed?",
            _fixed("eps", block_eps=1e-5),
        ),
    ),
)
