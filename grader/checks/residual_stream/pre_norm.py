"""The pre-norm update, equation (22.1): its claims and the ways it goes wrong."""

from grader.checks.engine.exercise import Claim, Mistake
from grader.checks.residual_stream.formulas import norm
from grader.checks.residual_stream.updates import (
    out,
    out_with,
    silent,
    update_exercise,
    wrong_norms,
)
from transformer_block.residual_stream import pre_norm_update


def _right(x, f, n):
    return x + f(n(x))


MISTAKES = (
    Mistake(
        "normed_stream_kept",
        "If the sublayer writes zeros, what should come out: x, or norm(x)? "
        "Which of the two do you add to?",
        out(lambda x, f, n: n(x) + f(n(x))),
    ),
    Mistake(
        "post_norm",
        "Is the norm the first thing that happens on the branch, or the last thing of all?",
        out(lambda x, f, n: n(x + f(x))),
    ),
    Mistake(
        "normed_again_at_the_end",
        "How many norms are in this update? Yours has one after the add as well.",
        out(lambda x, f, n: n(x + f(n(x)))),
    ),
    Mistake(
        "write_normed",
        "What do you normalise: what the sublayer reads, or what it writes?",
        out(lambda x, f, n: x + n(f(x))),
    ),
    Mistake(
        "both_normed",
        "Is what the sublayer wrote added as it is? Count the norms on the branch.",
        out(lambda x, f, n: x + n(f(n(x)))),
    ),
    Mistake(
        "no_norm",
        "What does your sublayer read? Make x a hundred times larger: should it notice?",
        out(lambda x, f, n: x + f(x)),
    ),
    Mistake(
        "normed_twice",
        "How often is x normalised before the sublayer reads it?",
        out(lambda x, f, n: x + f(n(n(x)))),
    ),
    Mistake(
        "no_residual",
        "If the sublayer writes zeros, is anything left of x in your result?",
        out(lambda x, f, n: f(n(x))),
    ),
    Mistake(
        "write_dropped",
        "Does your result depend on the sublayer at all? What becomes of the sum?",
        out(lambda x, f, n: x),
    ),
    Mistake(
        "stream_doubled",
        "How often is x in your sum? Who adds it: the update, or the sublayer?",
        out(lambda x, f, n: 2 * x + f(n(x))),
    ),
    Mistake(
        "averaged",
        "Do you add the write, or average the two?",
        out(lambda x, f, n: (x + f(n(x))) / 2),
    ),
    Mistake(
        "halved_power",
        "Something divides your sum by 1.414. Does the update have such a factor?",
        out(lambda x, f, n: (x + f(n(x))) / 2**0.5),
    ),
    Mistake(
        "gain_on_the_write",
        "What does the gain multiply: what the sublayer reads, or what it writes?",
        out_with(lambda x, f, w, eps: x + w * f(norm(x, 1.0, eps))),
    ),
    Mistake(
        "multiplied",
        "Is the write added to the stream, or does it multiply it?",
        out(lambda x, f, n: x * f(n(x))),
    ),
    *wrong_norms(_right),
)

PRE_NORM = update_exercise(
    pre_norm_update,
    "The update is that of (22.1).",
    Claim(
        "identity",
        "A sublayer that writes zeros leaves the stream as it is, bit for bit.",
        silent,
        ("out",),
    ),
    MISTAKES,
)
