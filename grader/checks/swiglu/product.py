"""The heart of the backward pass: what the product of gate and up sends to each of them."""

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.swiglu.formulas import sigmoid, silu, slope


def _case(rng, about, scale=1.0, leading=1):
    shape = witness.shape(rng, leading)
    names = ("dhidden", "gate", "up")
    inputs = {name: witness.rows(rng, shape) for name in names}
    return Case(inputs | {"gate": scale * inputs["gate"]}, about)


def _cases(rng):
    yield _case(rng, "ordinary gates")
    yield _case(rng, "gates from about −9 to 9", scale=3.0)
    yield _case(rng, "two leading axes", leading=2)


def _dip(rng):
    """Yield what `_cases` does, then gates near −1.2785, where the slope is nearly zero."""
    yield from _cases(rng)
    case = _case(rng, "gates within 1e-4 of the bottom of SiLU's dip", scale=1e-4)
    yield Case(case.inputs | {"gate": case.inputs["gate"] - 1.2784645427610738}, case.about)


def dup(formula):
    """Make a mistake in what the up path gets."""
    return lambda dhidden, gate, up: {"dup": formula(dhidden, gate, up)}


def dgate(formula):
    """Make a mistake in what the gate path gets."""
    return lambda dhidden, gate, up: {"dgate": formula(dhidden, gate, up)}


def pull_back(dhidden, gate, up):
    """Send a gradient back through ``silu(gate) * up``."""
    return {"dgate": dhidden * up * slope(gate), "dup": dhidden * silu(gate)}


MISTAKES = (
    Mistake(
        "own_value_to_up",
        "How much does SiLU(gate) · up change when up moves by one? By up, or by its partner?",
        dup(lambda dhidden, gate, up: dhidden * up),
    ),
    Mistake(
        "gate_before_silu",
        "What multiplied up in the forward pass: the gate before its SiLU, or after it?",
        dup(lambda dhidden, gate, up: dhidden * gate),
    ),
    Mistake(
        "slope_to_up",
        "Did up pass through SiLU? Whose slope stands in your dup?",
        dup(lambda dhidden, gate, up: dhidden * slope(gate)),
    ),
    Mistake(
        "sigmoid_to_up",
        "In your dup, is the sigmoid multiplied by the gate?",
        dup(lambda dhidden, gate, up: dhidden * sigmoid(gate)),
    ),
    Mistake(
        "nothing_to_up",
        "hidden is a product. Which factor does the gradient of up pick up?",
        dup(lambda dhidden, gate, up: dhidden + 0 * up),
    ),
    Mistake(
        "both_to_up",
        "Is up itself among the factors of your dup? Is the product linear in up?",
        dup(lambda dhidden, gate, up: dhidden * silu(gate) * up),
    ),
    Mistake(
        "slope_missing",
        "Between gate and hidden lies SiLU. Where is its derivative in your dgate?",
        dgate(lambda dhidden, gate, up: dhidden * up),
    ),
    Mistake(
        "up_missing",
        "If up is zero, can the gate make any difference? Look for up in your dgate.",
        dgate(lambda dhidden, gate, up: dhidden * slope(gate)),
    ),
    Mistake(
        "value_for_slope",
        "In your dgate, is it SiLU of the gate or its derivative?",
        dgate(lambda dhidden, gate, up: dhidden * up * silu(gate)),
    ),
    Mistake(
        "slope_of_up",
        "Of which of the two do you take the slope? Which one passed through SiLU?",
        dgate(lambda dhidden, gate, up: dhidden * up * slope(up)),
    ),
    Mistake(
        "half_a_slope",
        "Is the sigmoid the whole derivative of x σ(x)? Look at the slope in your dgate.",
        dgate(lambda dhidden, gate, up: dhidden * up * sigmoid(gate)),
    ),
    Mistake(
        "other_half_of_slope",
        "x σ(x) is a product. In your slope, where is the term in which x alone moves?",
        dgate(lambda dhidden, g, up: dhidden * up * g * sigmoid(g) * (1 - sigmoid(g))),
    ),
    Mistake(
        "sigmoid_s_slope",
        "Whose derivative stands in your dgate: the sigmoid's, or SiLU's?",
        dgate(lambda dhidden, gate, up: dhidden * up * sigmoid(gate) * (1 - sigmoid(gate))),
    ),
    Mistake(
        "relu_s_slope",
        "Is a gate at −0.5 without any gradient? Whose derivative is that?",
        dgate(lambda dhidden, gate, up: dhidden * up * (gate > 0)),
    ),
    Mistake(
        "own_value_to_gate",
        "Whose value does the gate path receive: its own, or its partner's?",
        dgate(lambda dhidden, gate, up: dhidden * gate * slope(gate)),
    ),
    Mistake(
        "slope_of_silu",
        "At which number do you take the derivative: at the gate, or at SiLU of the gate?",
        dgate(lambda dhidden, gate, up: dhidden * up * slope(silu(gate))),
    ),
    Mistake(
        "dhidden_missing",
        "You have slopes. Where is the gradient that arrives from behind?",
        lambda dhidden, gate, up: {"dgate": up * slope(gate), "dup": silu(gate)},
    ),
    Mistake(
        "roles_swapped",
        "Which of the two passed through SiLU in the forward pass? Which does in your formulas?",
        lambda dhidden, gate, up: {
            "dgate": dhidden * silu(up),
            "dup": dhidden * gate * slope(up),
        },
    ),
)
ORDER = Mistake(
    "order",
    "In which order do you return the two gradients?",
    lambda dhidden, gate, up: {
        "dgate": dhidden * silu(gate),
        "dup": dhidden * up * slope(gate),
    },
)

PRODUCT = Exercise(
    name="gate_backward",
    returns=("dgate", "dup"),
    reference=pull_back,
    claims=by_name(
        Claim("up", "The up path receives the value of its gate.", _cases, ("dup",)),
        Claim("gate", "The gate path receives up, times SiLU's slope.", _dip, ("dgate",)),
    ),
    mistakes=(*MISTAKES, ORDER),
)
