"""One block in two letters: 4d² for attention and 3dh, or 2dh, for the net."""

from grader.checks.counting.judges import counts
from grader.checks.counting.models import EXACT
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from transformer_block.counting import approximate_block_parameters


def _case(d, h, net="gated"):
    return Case({"d": d, "h": h, "net": net}, f"d = {d}, h = {h}, a {net} net", EXACT)


def _widths(rng):
    """Draw d and h of which neither is a simple multiple of the other."""
    return int(rng.choice([53, 59, 61, 67])), int(rng.choice([149, 151, 157, 163]))


def _gated(rng):
    yield _case(*_widths(rng))
    yield _case(4096, 11_008)
    d = int(rng.integers(100, 200))
    yield _case(d, 4 * d)


def _classic(rng):
    yield _case(*_widths(rng), "classic")
    yield _case(768, 3072, "classic")


def _thirds(rng):
    d = 3 * int(rng.integers(100, 200))
    yield _case(d, 8 * d // 3)
    yield _case(d, 8 * d // 3, "classic")


def _matrices(net):
    return 3 if net == "gated" else 2


def _parameters(formula):
    return lambda d, h, net: {"parameters": formula(d, h, _matrices(net))}


BLOCK = Exercise(
    name="block_parameters",
    returns=("parameters",),
    reference=lambda d, h, net: {"parameters": float(approximate_block_parameters(d, h, net))},
    claims=by_name(
        Claim(
            "gated", "With a gated net, every matrix is counted.", _gated, ("parameters",), counts
        ),
        Claim(
            "classic",
            "With a classic net, every matrix is counted.",
            _classic,
            ("parameters",),
            counts,
        ),
        Claim(
            "thirds",
            "At h = 8d/3 the count is exact too, for both nets.",
            _thirds,
            ("parameters",),
            counts,
        ),
    ),
    mistakes=(
        Mistake(
            "two_matrices",
            "How many matrices does a gated net have?",
            _parameters(lambda d, h, m: 4 * d * d + 2 * d * h),
        ),
        Mistake(
            "three_matrices",
            "How many matrices does a net without a gate have? Do you look at the third argument?",
            _parameters(lambda d, h, m: 4 * d * d + 3 * d * h),
        ),
        Mistake(
            "net_alone",
            "A block has two parts. Where is the other one in your count?",
            _parameters(lambda d, h, m: m * d * h),
        ),
        Mistake(
            "attention_alone",
            "A block has two parts. Where is the net in your count?",
            _parameters(lambda d, h, m: 4 * d * d),
        ),
        Mistake(
            "no_output_matrix",
            "Queries, keys, values: what comes after the heads have been put side by side?",
            _parameters(lambda d, h, m: 3 * d * d + m * d * h),
        ),
        Mistake(
            "one_attention_matrix",
            "How many matrices does attention have?",
            _parameters(lambda d, h, m: d * d + m * d * h),
        ),
        Mistake(
            "width_of_four_d",
            "Does your count change with h?",
            _parameters(lambda d, h, m: 4 * d * d + 4 * m * d * d),
        ),
        Mistake(
            "square_net",
            "What are the two sides of a matrix of the net?",
            _parameters(lambda d, h, m: 4 * d * d + m * h * h),
        ),
        Mistake(
            "attention_of_width_h",
            "Which width do the matrices of attention have on both sides?",
            _parameters(lambda d, h, m: 4 * d * h + m * d * h),
        ),
        Mistake(
            "gains_counted",
            "The count is to leave out biases and gains. What is left over in yours?",
            _parameters(lambda d, h, m: 4 * d * d + m * d * h + 2 * d),
        ),
        Mistake(
            "twelve_d_squared",
            "Your count is 12d² at every h. For which h, and which net, is that right?",
            _parameters(lambda d, h, m: 12 * d * d),
        ),
        Mistake(
            "flops",
            "Do you count numbers that are stored, or operations?",
            _parameters(lambda d, h, m: 2 * (4 * d * d + m * d * h)),
        ),
    ),
)
