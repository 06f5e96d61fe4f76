"""What the two updates share: their inputs, and the ways in which either of them goes wrong."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments
from grader.checks.residual_stream.formulas import (
    alone,
    asked_twice,
    centred_norm,
    fresh,
    in_float32,
    matrix,
    mean_square,
    norm,
    one_norm,
    shape,
)
from grader.checks.residual_stream.sublayers import Keeps, Mixes


def draw(rng, about, leading=1, *, scale=1.0, eps=1e-5, written=1.0, fickle=False, tolerance=1e-9):
    """Draw a stream, a sublayer that mixes tokens, and a gain that is far from one."""
    drawn = shape(rng, leading)
    inputs = {
        "x": witness.rows(rng, drawn, scale),
        "sublayer": Mixes(written * matrix(rng, drawn[-1]), fickle),
        "weight": witness.gain(rng, drawn[-1]),
        "eps": eps,
    }
    return Case(inputs, about, tolerance)


def value_cases(rng):
    """Yield streams of several sizes, and an ε that can be seen."""
    yield draw(rng, "ordinary rows")
    yield draw(rng, "a stream of size 30", scale=30.0)
    yield draw(rng, "ε = 0.3", eps=0.3)


def tokens(rng):
    """Yield streams with other axes in front, and with rows that differ a lot in size."""
    yield draw(rng, "two leading axes", 2)
    yield draw(rng, "one sequence without leading axes", 0)
    case = draw(rng, "rows of very different size, each column side by side in memory", 0)
    x = np.asfortranarray(witness.uneven_rows(rng, case.inputs["x"].shape))
    yield Case(case.inputs | {"x": x}, case.about)


def silent(rng):
    """Yield sublayers that write nothing but zeros."""
    yield draw(rng, "a sublayer that writes zeros", written=0.0, tolerance=0.0)
    yield draw(
        rng, "zeros again, on a stream of size 30", 2, scale=30.0, written=0.0, tolerance=0.0
    )


def silent_then_normed(rng):
    """Yield the same for an update that ends in a norm, which rounds."""
    for case in silent(rng):
        yield Case(case.inputs, case.about)


def once(rng):
    """Yield a sublayer that answers a second question otherwise."""
    yield draw(rng, "a sublayer that answers otherwise when it is asked again", fickle=True)


def types(rng):
    """Yield float32 throughout."""
    case = draw(rng, "all arrays in float32", 2)
    yield Case(in_float32(dict(case.inputs)), case.about, 1e-5)


def untouched(rng):
    """Yield ordinary rows, and a sublayer whose write is an array of its own."""
    yield draw(rng, "ordinary rows, looked at again after the call", 2)
    case = draw(rng, "a sublayer that writes the same rows every time")
    kept = Keeps(witness.rows(rng, case.inputs["x"].shape))
    yield Case(case.inputs | {"sublayer": kept}, case.about)


def out(formula):
    """Make outputs of a formula in x, the sublayer and the norm with its gain and ε."""

    def outputs(x, sublayer, weight, eps):
        return {"out": formula(x, fresh(sublayer), lambda t: norm(t, weight, eps))}

    return outputs


def out_with(formula):
    """Make outputs of a formula that has gain and ε in its own hands."""
    return lambda x, sublayer, weight, eps: {"out": formula(x, fresh(sublayer), weight, eps)}


def wrong_norms(update):
    """Make the mistakes that lie in the norm or in the asking, for one of the updates.

    ``update(x, f, normalise)`` is the right way to put the three together.
    """

    def with_norm(normalise):
        return out_with(lambda x, f, w, eps: update(x, f, lambda t: normalise(t, w, eps)))

    return (
        Mistake(
            "gain_missing",
            "Where does the gain come in? Try a gain of 2 in one feature.",
            with_norm(lambda t, w, eps: norm(t, 1.0, eps)),
        ),
        Mistake(
            "gain_plus_one",
            "Do you multiply by the gain, or by one more than it?",
            with_norm(lambda t, w, eps: norm(t, 1 + w, eps)),
        ),
        Mistake(
            "eps_fixed",
            "Does your norm use the ε that it is given?",
            with_norm(lambda t, w, eps: norm(t, w, 1e-5)),
        ),
        Mistake(
            "eps_missing",
            "Is there an ε in your norm at all?",
            with_norm(lambda t, w, eps: norm(t, w, 0.0)),
        ),
        Mistake(
            "eps_outside",
            "Is your ε inside the square root, next to the mean square?",
            with_norm(lambda t, w, eps: t / (mean_square(t) ** 0.5 + eps) * w),
        ),
        Mistake(
            "layernorm",
            "Is the mean of a row subtracted somewhere? Which norm is asked for?",
            with_norm(centred_norm),
        ),
        Mistake(
            "one_rms_for_all",
            "Has each token an RMS of its own in your norm, or do all share one?",
            with_norm(one_norm),
        ),
        Mistake(
            "asked_twice",
            "How often do you call the sublayer? What if it answers otherwise the second time?",
            out(lambda x, f, n: update(x, lambda t: asked_twice(f, t), n)),
        ),
        Mistake(
            "tokens_apart",
            "Do you give the sublayer the tokens one by one? Then what can attention read?",
            out(lambda x, f, n: update(x, alone(f), n)),
        ),
        Mistake(
            "subtracted",
            "With which sign does the write go into the stream?",
            out(lambda x, f, n: update(x, lambda t: -f(t), n)),
        ),
        Mistake(
            "write_doubled",
            "How often do you add what the sublayer wrote?",
            out(lambda x, f, n: update(x, lambda t: 2 * f(t), n)),
        ),
    )


def update_exercise(update, value, silence, mistakes):
    """Make the exercise of one of the updates.

    Parameters
    ----------
    update : callable
        The right one.
    value : str
        What the claim on its value says.
    silence : Claim
        On a sublayer that writes zeros: there the two updates differ.
    mistakes : tuple of Mistake
        Its catalogue.

    Returns
    -------
    exercise : Exercise
        With the claims that both updates have.
    """
    ours = ("out",)
    return Exercise(
        name=update.__name__,
        returns=ours,
        reference=lambda x, sublayer, weight, eps: {"out": update(x, fresh(sublayer), weight, eps)},
        claims=by_name(
            Claim("value", value, value_cases, ours),
            silence,
            Claim(
                "tokens",
                "Each token has a norm of its own, and the sublayer sees all tokens at once.",
                tokens,
                ours,
            ),
            Claim("once", "The sublayer is asked once.", once, ours),
            Claim("types", "float32 goes in and float32 comes out.", types, ours, keeps_dtype),
            Claim(
                "untouched",
                "x is left as it was, and what belongs to the sublayer too.",
                untouched,
                ours,
                leaves_arguments,
            ),
        ),
        mistakes=mistakes,
    )
