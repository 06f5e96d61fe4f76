"""The post-norm update of 2017: its claims and the ways it goes wrong."""

from grader.checks.engine.exercise import Claim, Mistake
from grader.checks.residual_stream.updates import (
    out,
    silent_then_normed,
    update_exercise,
    wrong_norms,
)
from transformer_block.residual_stream import post_norm_update


def _right(x, f, n):
    return n(x + f(x))


MISTAKES = (
    Mistake(
        "pre_norm",
        "Which comes last in this update: the add, or the norm?",
        out(lambda x, f, n: x + f(n(x))),
    ),
    Mistake(
        "read_normed",
        "What does the sublayer read here: the stream itself, or a normalised copy?",
        out(lambda x, f, n: n(x + f(n(x)))),
    ),
    Mistake(
        "write_normed",
        "Of what do you take the norm: of the write alone, or of the whole sum?",
        out(lambda x, f, n: x + n(f(x))),
    ),
    Mistake(
        "terms_normed_apart",
        "Is the norm of a sum the sum of the norms? How many norms does this update have?",
        out(lambda x, f, n: n(x) + n(f(x))),
    ),
    Mistake(
        "stream_normed_alone",
        "Which of the two terms have you normalised? When is the norm taken?",
        out(lambda x, f, n: n(x) + f(x)),
    ),
    Mistake(
        "normed_first",
        "Your norm comes before the sublayer and before the add. Where was it in 2017?",
        out(lambda x, f, n: n(x) + f(n(x))),
    ),
    Mistake(
        "no_norm",
        "How large can your result become? What keeps it at a standard size?",
        out(lambda x, f, n: x + f(x)),
    ),
    Mistake(
        "no_residual",
        "If the sublayer writes zeros, what should be left to normalise?",
        out(lambda x, f, n: n(f(x))),
    ),
    Mistake(
        "write_dropped",
        "Does your result depend on the sublayer at all?",
        out(lambda x, f, n: n(x)),
    ),
    Mistake(
        "normed_twice",
        "How often do you normalise the sum?",
        out(lambda x, f, n: n(n(x + f(x)))),
    ),
    Mistake(
        "stream_doubled",
        "How often is x in your sum?",
        out(lambda x, f, n: n(2 * x + f(x))),
    ),
    *wrong_norms(_right),
)

POST_NORM = update_exercise(
    post_norm_update,
    "The sum of stream and write is normalised.",
    Claim(
        "silent",
        "A sublayer that writes zeros leaves the normalised stream, and not the stream.",
        silent_then_normed,
        ("out",),
    ),
    MISTAKES,
)
