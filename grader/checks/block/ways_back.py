"""The parts of a block's backward pass, and ways to join them wrongly."""

import numpy as np

from transformer_block.attention import causal_self_attention_backward
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


def last_split(join):
    """Keep the first half right behind a wrong join of the last split's two ways."""

    def wire(p, dout):
        du = join(dout, p.norm2(p.net(dout)))
        return du + p.norm1(p.attn(du))

    return wire


def first_split(join):
    """Join the first split's two ways wrongly: a function of dout, du and the branch."""

    def wire(p, dout):
        du = dout + p.norm2(p.net(dout))
        return join(dout, du, p.norm1(p.attn(du)))

    return wire


def no_straight_way(p, dout):
    """Drop every straight way."""
    return p.norm1(p.attn(p.norm2(p.net(dout))))


def attention_hears(choose):
    """Feed attention something else than what dx is made of."""

    def wire(p, dout):
        branch = p.norm2(p.net(dout))
        du = dout + branch
        return du + p.norm1(p.attn(choose(dout, branch)))

    return wire


def norm_of_the_sum(last, first):
    """Send the sum of both ways through the norm, at one split or at both."""

    def wire(p, dout):
        way = p.net(dout)
        du = p.norm2(dout + way) if last else dout + p.norm2(way)
        way = p.attn(du)
        return p.norm1(du + way) if first else du + p.norm1(way)

    return wire


def norm_skipped(last, first):
    """Let the branch come back without its norm; the gain still gets a gradient."""

    def wire(p, dout):
        raw = p.net(dout)
        normed = p.norm2(raw)
        du = dout + (raw if last else normed)
        raw = p.attn(du)
        normed = p.norm1(raw)
        return du + (raw if first else normed)

    return wire


def forward_order(p, dout):
    """Go through the halves in the order of the forward pass."""
    du = dout + p.norm1(p.attn(dout))
    return du + p.norm2(p.net(du))


def caches_crossed(p, dout):
    """Let each norm read the other one's cache."""
    du = dout + p.norm("ffn_norm", p.net(dout), of="attn_norm")
    return du + p.norm("attn_norm", p.attn(du), of="ffn_norm")


def gains(make):
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


def gains_swapped(p, dout):
    """Store each gain's gradient under the other one's name."""
    dx = last_split(np.add)(p, dout)
    p.grads |= {"attn_norm": p.grads["ffn_norm"], "ffn_norm": p.grads["attn_norm"]}
    return dx


def over_tokens(rows):
    """Add up the rows of all tokens."""
    return np.sum(rows, axis=tuple(range(rows.ndim - 1)))
