"""Ways in which the two halves of a block get wired wrongly."""

from dataclasses import dataclass, replace

import numpy as np

from grader.checks.block import wirings
from grader.checks.engine.exercise import Mistake
from transformer_block.attention import causal_self_attention_forward
from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.swiglu import swiglu_forward


@dataclass(frozen=True)
class Parts:
    """The two norms and the two sublayers of one block, as functions of rows."""

    params: dict
    n_heads: int
    rope_base: float = 10_000.0
    eps: float = 1e-5
    positions: np.ndarray | None = None
    gains: tuple[str, str] = ("attn_norm", "ffn_norm")

    def norm1(self, rows):
        """Normalise what attention reads."""
        return rmsnorm_forward(rows, self.params[self.gains[0]], self.eps)[0]

    def norm2(self, rows):
        """Normalise what the net reads."""
        return rmsnorm_forward(rows, self.params[self.gains[1]], self.eps)[0]

    def attn(self, rows):
        """Return what attention writes."""
        how = (self.n_heads, self.rope_base, self.positions)
        return causal_self_attention_forward(rows, self.params, *how)[0]

    def net(self, rows):
        """Return what the feed-forward net writes."""
        return swiglu_forward(rows, self.params)[0]


def _wired(name, question, wire):
    """Make a mistake of a wrong wiring: a function of the rows and the parts."""
    return Mistake(name, question, lambda x, **rest: {"out": wire(x, Parts(**rest))})


def _replaced(name, question, change):
    """Make a mistake that wires the block rightly, of other parts."""
    return _wired(name, question, lambda x, p: wirings.right(x, change(p)))


def _norm_of_writes(x, p):
    u = x + p.norm1(p.attn(x))
    return u + p.norm2(p.net(u))


def _no_norms(x, p):
    u = x + p.attn(x)
    return u + p.net(u)


def _norms_done_again(x, p):
    u = x + p.attn(p.norm1(p.norm1(x)))
    return u + p.net(p.norm2(p.norm2(u)))


def _centred(x, p):
    """Put LayerNorm where RMSNorm is asked."""

    def norm(rows, gain):
        return layernorm_forward(rows, p.params[gain], np.zeros_like(p.params[gain]), p.eps)[0]

    u = x + p.attn(norm(x, "attn_norm"))
    return u + p.net(norm(u, "ffn_norm"))


def _without_gains(p):
    ones = {name: np.ones_like(p.params[name]) for name in p.gains}
    return replace(p, params=p.params | ones)


FORWARD_MISTAKES = (
    _wired(
        "post_norm", "Does your norm come before a sublayer, or after the add?", wirings.post_norm
    ),
    _wired(
        "norm_of_writes",
        "What do you normalise: what a sublayer reads, or what it writes?",
        _norm_of_writes,
    ),
    _wired(
        "stream_normalised",
        "To what do you add a sublayer's output: to the stream, or to its normalised copy?",
        wirings.stream_normalised,
    ),
    _wired(
        "first_stream_normalised",
        "Is what attention writes added to x, or to the normalised x?",
        wirings.first_stream_normalised,
    ),
    _wired(
        "second_stream_normalised",
        "Is what the net writes added to the stream, or to what the net has read?",
        wirings.second_stream_normalised,
    ),
    _wired(
        "attention_reads_raw",
        "What does attention read: the stream as it is?",
        wirings.attention_reads_raw,
    ),
    _wired(
        "net_reads_raw",
        "What does the net read: the stream as it is?",
        wirings.net_reads_raw,
    ),
    _wired("no_norms", "Where are the two norms? Both sublayers read raw rows.", _no_norms),
    _wired("norms_done_again", "How often do you normalise in each half?", _norms_done_again),
    _wired(
        "net_reads_x",
        "Which rows does the second norm get: those before attention, or those after it?",
        wirings.net_reads_x,
    ),
    _wired(
        "net_reads_first_norm",
        "Does the net read the rows that were normalised for attention?",
        wirings.second_half(lambda x, u, p: u + p.net(p.norm1(x))),
    ),
    _wired(
        "net_reads_write",
        "Does the net read the stream, or only what attention has written?",
        wirings.second_half(lambda x, u, p: u + p.net(p.norm2(u - x))),
    ),
    _wired(
        "second_adds_to_x",
        "To which rows is the net's output added? Is what attention wrote still in them?",
        wirings.second_adds_to_x,
    ),
    _wired(
        "x_twice",
        "How often is x in your output, if both sublayers write nothing?",
        wirings.second_half(lambda x, u, p: x + u + p.net(p.norm2(u))),
    ),
    _wired(
        "no_first_residual",
        "What reaches the second half, if attention writes nothing?",
        wirings.no_first_residual,
    ),
    _wired(
        "no_second_residual",
        "What comes out of the block, if the net writes nothing?",
        wirings.no_second_residual,
    ),
    _wired("no_residuals", "Is anything added back in your block?", wirings.no_residuals),
    _wired(
        "writes_alone",
        "Is your output the stream, or only what the two sublayers have written?",
        wirings.second_half(lambda x, u, p: u - x + p.net(p.norm2(u))),
    ),
    _wired(
        "attention_alone",
        "Your output is that of the first half. Where does the net come in?",
        wirings.second_half(lambda x, u, p: u),
    ),
    _wired(
        "net_alone",
        "Your output is that of the second half. Where does attention come in?",
        lambda x, p: x + p.net(p.norm2(x)),
    ),
    _wired("net_first", "Which of the two sublayers comes first?", wirings.net_first),
    _replaced(
        "gains_swapped",
        "Which gain belongs to which norm? Both have the same shape.",
        lambda p: replace(p, gains=("ffn_norm", "attn_norm")),
    ),
    _replaced(
        "first_gain_twice",
        "Do your two norms have a gain of their own each?",
        lambda p: replace(p, gains=("attn_norm", "attn_norm")),
    ),
    _replaced(
        "second_gain_twice",
        "Which gain does the norm before attention have?",
        lambda p: replace(p, gains=("ffn_norm", "ffn_norm")),
    ),
    _replaced("no_gains", "Which weights do your norms use?", _without_gains),
    _wired("centred", "Do your norms subtract the mean? What does (22.2) divide by?", _centred),
    _replaced(
        "eps_fixed",
        "Does ε reach both of your norms?",
        lambda p: replace(p, eps=1e-5),
    ),
    _replaced(
        "base_fixed",
        "Does the base of the rotations reach your attention?",
        lambda p: replace(p, rope_base=10_000.0),
    ),
    _replaced(
        "positions_fixed",
        "Do the positions reach your attention?",
        lambda p: replace(p, positions=None),
    ),
)
