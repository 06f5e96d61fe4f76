"""Ways in which a gradient takes the wrong way back through the two halves."""

import numpy as np

from grader.checks.engine.exercise import Mistake
from transformer_block.attention import causal_self_attention_backward
from transformer_block.block import transformer_block_forward
from transformer_block.rmsnorm import rmsnorm_backward
from transformer_block.swiglu import swiglu_backward


class Pulls:
    """The backward passes of the four parts, as functions of a gradient; weights' are kept."""

    def __init__(self, cache):
        """Begin with no gradients."""
        self.norm_caches = {"attn_norm": cache[0], "ffn_norm": cache[3]}
        self.attn_cache, self.net_cache = cache[1], cache[4]
        self.grads = {}

    def net(self, d):
        """Go back through the feed-forward net."""
        return self._kept(swiglu_backward(d, self.net_cache))

    def attn(self, d):
        """Go back through attention."""
        return self._kept(causal_self_attention_backward(d, self.attn_cache))

    def norm2(self, d):
        """Go back through the norm in front of the net."""
        return self.norm("ffn_norm", d)

    def norm1(self, d):
        """Go back through the norm in front of attention."""
        return self.norm("attn_norm", d)

    def norm(self, name, d, of=None):
        """Go back through a norm, or with its gain's name through the other one's cache."""
        dx, dgain = rmsnorm_backward(d, self.norm_caches[of or name])
        return self._kept((dx, {name: dgain}))

    def _kept(self, result):
        dx, grads = result
        self.grads |= grads
        return dx


def _wired(name, question, wire):
    """Make a mistake of a wrong wiring: a function of the parts and of dout."""

    def outputs(dout, **inputs):
        pulls = Pulls(transformer_block_forward(**inputs)[1])
        dx = wire(pulls, dout)
        return {"dx": dx, **pulls.grads}

    return Mistake(name, question, outputs)


def _last_split(join):
    """Keep the first half right behind a wrong join of the last split's two ways."""

    def wire(p, dout):
        du = join(dout, p.norm2(p.net(dout)))
        return du + p.norm1(p.attn(du))

    return wire


def _first_split(join):
    """Join the first split's two ways wrongly: a function of dout, du and the branch."""

    def wire(p, dout):
        du = dout + p.norm2(p.net(dout))
        return join(dout, du, p.norm1(p.attn(du)))

    return wire


def _no_straight_way(p, dout):
    return p.norm1(p.attn(p.norm2(p.net(dout))))


def _attention_hears(choose):
    """Feed attention something else than what dx is made of."""

    def wire(p, dout):
        branch = p.norm2(p.net(dout))
        du = dout + branch
        return du + p.norm1(p.attn(choose(dout, branch)))

    return wire


def _norm_of_the_sum(last, first):
    """Send the sum of both ways through the norm, at one split or at both."""

    def wire(p, dout):
        way = p.net(dout)
        du = p.norm2(dout + way) if last else dout + p.norm2(way)
        way = p.attn(du)
        return p.norm1(du + way) if first else du + p.norm1(way)

    return wire


def _norm_skipped(last, first):
    """Let the branch come back without its norm; the gain still gets a gradient."""

    def wire(p, dout):
        raw = p.net(dout)
        normed = p.norm2(raw)
        du = dout + (raw if last else normed)
        raw = p.attn(du)
        normed = p.norm1(raw)
        return du + (raw if first else normed)

    return wire


def _forward_order(p, dout):
    du = dout + p.norm1(p.attn(dout))
    return du + p.norm2(p.net(du))


def _caches_crossed(p, dout):
    du = dout + p.norm("ffn_norm", p.net(dout), of="attn_norm")
    return du + p.norm("attn_norm", p.attn(du), of="ffn_norm")


def _gains(make):
    """Change the gradients of the gains alone: a function of the parts and of what comes in."""

    def wire(p, dout):
        dnet = p.net(dout)
        du = dout + p.norm2(dnet)
        dattn = p.attn(du)
        dx = du + p.norm1(dattn)
        ways = {"ffn_norm": (dout, dnet), "attn_norm": (du, dattn)}
        wrong = {name: make(p.norm_caches[name], *way) for name, way in ways.items()}
        p.grads |= {name: value for name, value in wrong.items() if value is not None}
        return dx

    return wire


def _gains_swapped(p, dout):
    dx = _last_split(np.add)(p, dout)
    p.grads |= {"attn_norm": p.grads["ffn_norm"], "ffn_norm": p.grads["attn_norm"]}
    return dx


def _over_tokens(rows):
    return np.sum(rows, axis=tuple(range(rows.ndim - 1)))


BACKWARD_MISTAKES = (
    _wired(
        "last_straight_lost",
        "The stream runs straight through the last add. Does dout come back on that way, too?",
        _last_split(lambda dout, branch: branch),
    ),
    _wired(
        "last_branch_lost",
        "Where does what comes back through the net meet what came straight?",
        _last_split(lambda dout, branch: dout),
    ),
    _wired(
        "first_straight_lost",
        "x runs straight through the first add. Is that way in your dx?",
        _first_split(lambda dout, du, branch: branch),
    ),
    _wired(
        "first_branch_lost",
        "x acts through attention as well. Is that way in your dx?",
        _first_split(lambda dout, du, branch: du),
    ),
    _wired(
        "no_straight_way",
        "Is there any way back on which your gradient is left as it is?",
        _no_straight_way,
    ),
    _wired(
        "dx_from_dout",
        "On how many ways does x reach the output? One leads past attention and through the net.",
        _first_split(lambda dout, du, branch: dout + branch),
    ),
    _wired(
        "dout_twice",
        "How often is dout itself in your dx?",
        _first_split(lambda dout, du, branch: dout + du + branch),
    ),
    _wired(
        "attention_hears_dout",
        "Between attention and the loss lies the second half. Which gradient does attention get?",
        _attention_hears(lambda dout, branch: dout),
    ),
    _wired(
        "attention_hears_branch",
        "Which gradient does attention get: that of the stream, or of one branch of it?",
        _attention_hears(lambda dout, branch: branch),
    ),
    _wired(
        "norm_of_the_sum",
        "Which way leads through the norm: both, or the branch alone?",
        _norm_of_the_sum(last=True, first=True),
    ),
    _wired(
        "norm_of_the_last_sum",
        "In the second half, do you add before the norm's backward pass, or after it?",
        _norm_of_the_sum(last=True, first=False),
    ),
    _wired(
        "norm_of_the_first_sum",
        "In the first half, do you add before the norm's backward pass, or after it?",
        _norm_of_the_sum(last=False, first=True),
    ),
    _wired(
        "norms_skipped",
        "Your branches come back from the sublayers. What lies between these and the stream?",
        _norm_skipped(last=True, first=True),
    ),
    _wired(
        "last_norm_skipped",
        "What does the gradient meet between the net and the stream?",
        _norm_skipped(last=True, first=False),
    ),
    _wired(
        "first_norm_skipped",
        "What does the gradient meet between attention and the stream?",
        _norm_skipped(last=False, first=True),
    ),
    _wired(
        "forward_order",
        "Which half came last in the forward pass? Which comes first on the way back?",
        _forward_order,
    ),
    _wired(
        "norm_caches_crossed",
        "Which of the two norms made norm1, and which norm2?",
        _caches_crossed,
    ),
    _wired(
        "averaged",
        "Where two ways meet, are their gradients added or averaged?",
        _last_split(lambda dout, branch: (dout + branch) / 2),
    ),
    _wired(
        "subtracted",
        "With which sign do the two ways of a split meet?",
        _last_split(np.subtract),
    ),
    _wired(
        "gains_swapped", "Under which name did you store which gain's gradient?", _gains_swapped
    ),
    _wired(
        "gains_hear_the_stream",
        "Which gradient does a gain hear: that of the stream, or of what its sublayer has read?",
        _gains(lambda cache, way, dnormed: _over_tokens(way * cache[3])),
    ),
    _wired(
        "gain_used_twice",
        "What did a gain multiply in the forward pass: rows with the gain in them already?",
        _gains(lambda cache, way, dnormed: _over_tokens(dnormed * cache[3] * cache[1])),
    ),
    _wired(
        "gain_of_raw_rows",
        "What did a gain multiply in the forward pass: rows of the stream, or normalised ones?",
        _gains(lambda cache, way, dnormed: _over_tokens(dnormed * cache[0])),
    ),
    _wired(
        "gain_averaged",
        "All tokens use the same gain. Are their shares of its gradient added, or averaged?",
        _gains(
            lambda cache, way, dnormed: _over_tokens(dnormed * cache[3]) * way.shape[-1] / way.size
        ),
    ),
    _wired(
        "gain_not_summed",
        "Which shape has a gain, and which has your gradient of it?",
        _gains(lambda cache, way, dnormed: dnormed * cache[3]),
    ),
)
