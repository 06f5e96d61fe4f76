"""Ways in which a gradient takes the wrong way back through the two halves."""

import numpy as np

from grader.checks.block import ways_back as ways
from grader.checks.engine.exercise import Mistake
from transformer_block.block import transformer_block_forward


def _wired(name, question, wire):
    """Make a mistake of a wrong wiring: a function of the parts and of dout."""

    def outputs(dout, **inputs):
        pulls = ways.Pulls(transformer_block_forward(**inputs)[1])
        dx = wire(pulls, dout)
        return {"dx": dx, **pulls.grads}

    return Mistake(name, question, outputs)


BACKWARD_MISTAKES = (
    _wired(
        "last_straight_lost",
        "The stream runs straight through the last add. Does dout come back on that way, too?",
        ways.last_split(lambda dout, branch: branch),
    ),
    _wired(
        "last_branch_lost",
        "Where does what comes back through the net meet what came straight?",
        ways.last_split(lambda dout, branch: dout),
    ),
    _wired(
        "first_straight_lost",
        "x runs straight through the first add. Is that way in your dx?",
        ways.first_split(lambda dout, du, branch: branch),
    ),
    _wired(
        "first_branch_lost",
        "x acts through attention as well. Is that way in your dx?",
        ways.first_split(lambda dout, du, branch: du),
    ),
    _wired(
        "no_straight_way",
        "Is there any way back on which your gradient is left as it is?",
        ways.no_straight_way,
    ),
    _wired(
        "dx_from_dout",
        "On how many ways does x reach the output? One leads past attention and through the net.",
        ways.first_split(lambda dout, du, branch: dout + branch),
    ),
    _wired(
        "dout_twice",
        "How often is dout itself in your dx?",
        ways.first_split(lambda dout, du, branch: dout + du + branch),
    ),
    _wired(
        "attention_hears_dout",
        "Between attention and the loss lies the second half. Which gradient does attention get?",
        ways.attention_hears(lambda dout, branch: dout),
    ),
    _wired(
        "attention_hears_branch",
        "Which gradient does attention get: that of the stream, or of one branch of it?",
        ways.attention_hears(lambda dout, branch: branch),
    ),
    _wired(
        "norm_of_the_sum",
        "Which way leads through the norm: both, or the branch alone?",
        ways.norm_of_the_sum(last=True, first=True),
    ),
    _wired(
        "norm_of_the_last_sum",
        "In the second half, do you add before the norm's backward pass, or after it?",
        ways.norm_of_the_sum(last=True, first=False),
    ),
    _wired(
        "norm_of_the_first_sum",
        "In the first half, do you add before the norm's backward pass, or after it?",
        ways.norm_of_the_sum(last=False, first=True),
    ),
    _wired(
        "norms_skipped",
        "Your branches come back from the sublayers. What lies between these and the stream?",
        ways.norm_skipped(last=True, first=True),
    ),
    _wired(
        "last_norm_skipped",
        "What does the gradient meet between the net and the stream?",
        ways.norm_skipped(last=True, first=False),
    ),
    _wired(
        "first_norm_skipped",
        "What does the gradient meet between attention and the stream?",
        ways.norm_skipped(last=False, first=True),
    ),
    _wired(
        "forward_order",
        "Which half came last in the forward pass? Which comes first on the way back?",
        ways.forward_order,
    ),
    _wired(
        "norm_caches_crossed",
        "Which of the two norms made norm1, and which norm2?",
        ways.caches_crossed,
    ),
    _wired(
        "averaged",
        "Where two ways meet, are their gradients added or averaged?",
        ways.last_split(lambda dout, branch: (dout + branch) / 2),
    ),
    _wired(
        "subtracted",
        "With which sign do the two ways of a split meet?",
        ways.last_split(np.subtract),
    ),
    _wired(
        "gains_swapped", "Under which name did you store which gain's gradient?", ways.gains_swapped
    ),
    _wired(
        "gains_hear_the_stream",
        "Which gradient does a gain hear: that of the stream, or of what its sublayer has read?",
        ways.gains(lambda cache, way, dnormed: ways.over_tokens(way * cache[3])),
    ),
    _wired(
        "gain_used_twice",
        "What did a gain multiply in the forward pass: rows with the gain in them already?",
        ways.gains(lambda cache, way, dnormed: ways.over_tokens(dnormed * cache[3] * cache[1])),
    ),
    _wired(
        "gain_of_raw_rows",
        "What did a gain multiply in the forward pass: rows of the stream, or normalised ones?",
        ways.gains(lambda cache, way, dnormed: ways.over_tokens(dnormed * cache[0])),
    ),
    _wired(
        "gain_averaged",
        "All tokens use the same gain. Are their shares of its gradient added, or averaged?",
        ways.gains(
            lambda cache, way, dnormed: (
                ways.over_tokens(dnormed * cache[3]) * way.shape[-1] / way.size
            )
        ),
    ),
    _wired(
        "gain_not_summed",
        "Which shape has a gain, and which has your gradient of it?",
        ways.gains(lambda cache, way, dnormed: dnormed * cache[3]),
    ),
)
