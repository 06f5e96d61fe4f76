"""The pre-norm update, equation (22.1): its claims and the ways it goes wrong."""

from grader.checks.engine.exercise import Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.residual_stream import updates
from grader.checks.residual_stream.formulas import fresh, norm
from grader.checks.residual_stream.updates import out, out_with, wrong_norms
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

PRE_NORM = Exercise(
    name="pre_norm_update",
    returns=("out",),
    reference=lambda x, sublayer, weight, eps: {
        "out": pre_norm_update(x, fresh(sublayer), weight, eps)
    },
    claims=by_name(
        Claim("value", "The update is that of (22.1).", updates.value, ("out",)),
        Claim(
            "identity",
            "A sublayer that writes zeros leaves the stream as it is, bit for bit.",
            updates.silent,
            ("out",),
        ),
        Claim(
            "tokens",
            "Each token has a norm of its own, and the sublayer sees all tokens at once.",
            updates.tokens,
            ("out",),
        ),
        Claim("once", "The sublayer is asked once.", updates.once, ("out",)),
        Claim(
            "types", "float32 goes in and float32 comes out.", updates.types, ("out",), keeps_dtype
        ),
        Claim(
            "untouched",
            "x is left as it was, and what belongs to the sublayer too.",
            updates.untouched,
            ("out",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
