"""Lost gains: which norms of an export have none, seen from what the export computed."""

from collections.abc import Iterable

import numpy as np

from grader.checks.engine.calling import describe
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import Fault, leaves_arguments
from grader.checks.llama.inputs import model, tokens
from transformer_block._trees import flatten, tree_map
from transformer_block.attention import causal_self_attention_forward
from transformer_block.practice import forget_gains, gain_names
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.swiglu import swiglu_forward
from transformer_block.traces import logit_lens, trace_decoder

# What lets a loss pass, as a question: not which norm it is.
WHY = {
    "attn_norm": "Which norm did attention read through, and is its write what it should be?",
    "ffn_norm": "Which stream did the net read: is that one among those you compare?",
    "final_norm": "Who reads the last stream? Is there a way to look at that, too?",
}


def _exported(params, lost, n_heads, T=6, rope_base=10_000.0, eps=1e-5):
    """Run a faulty export and return what the exercise is given."""
    run = {"n_heads": n_heads, "rope_base": rope_base, "eps": eps}
    ids = tokens(np.random.default_rng(len(params["embedding"])), params, T)
    faulty = forget_gains(params, lost)
    stream = trace_decoder(ids, faulty, **run)["stream"]
    logits = logit_lens(stream[-1], faulty, eps)
    return {"params": params, "stream": stream, "logits": logits, **run}


def _drawn(rng, choose, n_layers=None):
    """Draw a model, and lose the gains that ``choose`` picks from all names."""
    params, n_heads = model(rng, n_layers=n_layers)
    return _exported(params, choose(gain_names(params)), n_heads)


def _right(rng):
    yield Case(_drawn(rng, lambda names: []), "a right export")


def _attention(rng):
    yield Case(_drawn(rng, lambda names: names[:1]), "one gain is lost")
    yield Case(_drawn(rng, lambda names: names[-3:-2]), "one gain is lost, late")


def _net(rng):
    yield Case(_drawn(rng, lambda names: names[1:2]), "one gain is lost")
    yield Case(_drawn(rng, lambda names: names[-2:-1]), "one gain is lost, late")


def _final(rng):
    yield Case(_drawn(rng, lambda names: names[-1:]), "one gain is lost")


def _several(rng):
    yield Case(_drawn(rng, lambda names: names[1:3] + names[-1:], 2), "three gains are lost")
    yield Case(_drawn(rng, lambda names: names, 2), "all gains are lost")


def _settings(rng):
    """Gains near one: what another base or ε does is then far more than what a lost gain does."""
    for about, part in (("a right export", 0), ("all gains lost", 1), ("every other gain lost", 2)):
        params, n_heads = model(rng)
        for name in gain_names(params):
            _bring_near_one(rng, params, name, 0.002)
        for block in params["blocks"]:
            block["W_q"] *= 3.0  # so that positions decide which token is looked at
        lost = gain_names(params)[::part] if part else []
        inputs = _exported(params, lost, n_heads, T=19, rope_base=30.0, eps=0.1)
        yield Case(inputs, f"{about}; all were within 0.2 percent of one; base 30, ε = 0.1")


def _bring_near_one(rng, params, name, most):
    gain = flatten(params)[name]
    gain[...] = 1 + rng.uniform(most / 4, most, size=gain.shape)


def _close(rng):
    params, n_heads = model(rng)
    name = gain_names(params)[int(rng.integers(1, 4))]
    _bring_near_one(rng, params, name, 0.01)
    yield Case(_exported(params, [name], n_heads), "the lost gain was within one percent of one")
    params, n_heads = model(rng)
    params["embedding"] *= 1000.0
    lost = gain_names(params)[int(rng.integers(4))]
    yield Case(_exported(params, [lost], n_heads), "a stream a thousand times larger than writes")
    params, n_heads = model(rng)
    single = tree_map(lambda a: a.astype(np.float32), params)
    yield Case(_exported(single, [], n_heads), "a right export in float32")


def lost_in(params, stream, logits, n_heads, rope_base=10_000.0, eps=1e-5):
    """Find the norms that have lost their gain: what follows is nearer to a gain of one."""

    def write(weights, name):
        _, number, half = name.split(".")
        block, x = weights["blocks"][int(number)], stream[_place(name)]
        normed, _ = rmsnorm_forward(x, block[half], eps)
        if half == "ffn_norm":
            return swiglu_forward(normed, block)[0]
        return causal_self_attention_forward(normed, block, n_heads, rope_base)[0]

    def distance(weights, name):
        if name == "final_norm":
            return np.sum(np.abs(logit_lens(stream[-1], weights, eps) - logits))
        place = _place(name)
        return np.sum(np.abs(write(weights, name) - (stream[place + 1] - stream[place])))

    return [
        name
        for name in gain_names(params)
        if distance(forget_gains(params, [name]), name) < distance(params, name)
    ]


def _place(name):
    """Tell where in the stream a norm of a block reads."""
    _, number, half = name.split(".")
    return 2 * int(number) + (half == "ffn_norm")


def names_the_lost(trial):
    """Compare the names that came back with those of the lost gains, in any order."""
    wanted, names = trial.wanted["names"], trial.reply.outputs["names"]
    if isinstance(names, str) or not isinstance(names, Iterable):
        return Fault(f"names should be a list of names: it is {describe(names)}.")
    names = [str(name) for name in names]
    known = gain_names(trial.inputs["params"])
    unknown = sorted(set(names) - set(known))
    if unknown:
        return Fault(f"There is no norm {unknown[0]!r}: there are {', '.join(known)}.")
    return None if set(names) == set(wanted) else _fault(names, wanted)


def _fault(names, wanted):
    """Tell a loss that was missed apart from a gain that is there and was named."""
    missed = [name for name in wanted if name not in names]
    if not missed:
        return Fault(
            f"You named {len(set(names))} norms. Those that have lost their gain: {len(wanted)}.",
            "After a fault all that follows is wrong as well. Do you replay a half from the "
            "export's own stream, or from yours? And how much rounding do you allow?",
            "false_alarm",
        )
    found = f"named {', '.join(names)}" if names else "found nothing"
    return Fault(f"You {found}, and missed a loss.", WHY[missed[0].split(".")[-1]], "missed")


def _claim(name, says, cases, judge=names_the_lost):
    return Claim(name, says, cases, ("names",), judge)


def _leaves(trial):
    """Find an argument that was written into; else compare the names."""
    if trial.reply.changed:
        return leaves_arguments(trial)
    return names_the_lost(trial)


GAINS = Exercise(
    name="missing_gains",
    returns=("names",),
    reference=lambda **inputs: {"names": lost_in(**inputs)},
    claims=by_name(
        _claim("none", "In a right export nothing is missing.", _right),
        _claim("attention", "A lost gain in front of attention is found.", _attention),
        _claim("net", "A lost gain in front of a net is found.", _net),
        _claim("final", "The lost gain of the final norm is found.", _final),
        _claim("several", "All are found where several are lost.", _several),
        _claim("settings", "The base and ε of the export are used.", _settings),
        _claim("close", "Small losses are found, and rounding is no loss.", _close, _leaves),
    ),
)
