"""What the net is on small inputs: the lowest power of x that is left."""

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.swiglu.formulas import silu, weights


def _cases(rng):
    for leading, scale in ((1, 1.0), (2, 1e-3), (0, 1.0)):
        shape = witness.shape(rng, leading)
        inputs = {"x": witness.rows(rng, shape, scale), "params": weights(rng, shape[-1])}
        yield Case(inputs, f"rows of size {scale:g}, leading axes: {leading}")


def _hidden(formula):
    """Make outputs of a formula for the hidden features."""
    return lambda x, params: {
        "out": formula(x @ params["W_gate"], x @ params["W_up"]) @ params["W_down"]
    }


NEAR_ZERO = Exercise(
    name="swiglu_near_zero",
    returns=("out",),
    reference=_hidden(lambda gate, up: gate * up / 2),
    claims=by_name(
        Claim("value", "Only the lowest power of x is kept, exactly.", _cases, ("out",)),
    ),
    mistakes=(
        Mistake(
            "half_missing",
            "What is σ(0)? Where is it in your result?",
            _hidden(lambda gate, up: gate * up),
        ),
        Mistake(
            "nothing_left_out",
            "Is there still an exponential in it? What is σ(x) when x is nearly zero?",
            _hidden(lambda gate, up: silu(gate) * up),
        ),
        Mistake(
            "one_term_too_many",
            "Which power of x does your second term have? Only the lowest is asked for.",
            _hidden(lambda gate, up: (gate / 2 + gate * gate / 4) * up),
        ),
        Mistake(
            "gate_constant",
            "What is SiLU(0) — one half, or zero? Of which function is one half the value at 0?",
            _hidden(lambda gate, up: up / 2),
        ),
        Mistake(
            "like_relu",
            "What is SiLU of a small number: the number itself, if it is positive?",
            _hidden(lambda gate, up: gate * (gate > 0) * up),
        ),
        Mistake(
            "no_up",
            "Your result doubles when x does. Are both branches in it?",
            _hidden(lambda gate, up: gate / 2),
        ),
        Mistake(
            "quarter",
            "Is it σ(0) or the slope of σ at 0 that stays in front of the lowest power?",
            _hidden(lambda gate, up: gate * up / 4),
        ),
        Mistake(
            "both_halved",
            "Which of the two branches goes through SiLU? How many halves are there?",
            _hidden(lambda gate, up: gate * gate / 2),
        ),
    ),
)
