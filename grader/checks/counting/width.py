"""The width of the net for a budget, rounded one way or the other."""

import math

from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name


def _case(budget, d, multiple_of, rounding):
    about = f"{budget} parameters a block, d = {d}, multiples of {multiple_of}, {rounding}"
    return Case({"budget": budget, "d": d, "multiple_of": multiple_of, "rounding": rounding}, about)


def _between(rng, rounding):
    """Draw a budget that lies between two multiples, now nearer to the one, now to the other."""
    for multiple_of, place in ((32, 0.3), (8, 0.7), (12, rng.uniform(0.1, 0.9))):
        d = int(rng.integers(40, 90))
        steps = int(rng.integers(7, 19)) + place
        yield _case(4 * d * d + int(3 * d * steps * multiple_of), d, multiple_of, rounding)


def _up(rng):
    yield _case(12 * 4096**2, 4096, 256, "up")
    yield from _between(rng, "up")


def _down(rng):
    yield _case(12 * 4096**2, 4096, 256, "down")
    yield from _between(rng, "down")


def _exact(rng):
    for rounding, multiple_of in (("up", 32), ("down", 24)):
        d, steps = int(rng.integers(40, 90)), int(rng.integers(7, 19))
        budget = 4 * d * d + 3 * d * steps * multiple_of
        yield _case(budget, d, multiple_of, rounding)
        yield _case(budget + 1, d, multiple_of, rounding)
        yield _case(budget - 1, d, multiple_of, rounding)


def _multiples(width, m, rounding):
    """Round a width to a multiple; widths come as (numerator, denominator) to stay exact."""
    above, below = width
    return -(-above // (below * m)) * m if rounding == "up" else above // (below * m) * m


def _h(formula):
    return lambda budget, d, multiple_of, rounding: {"h": formula(budget, d, multiple_of, rounding)}


def _of(width):
    """Round another width in the right way."""
    return _h(lambda B, d, m, way: _multiples(width(B, d), m, way))


def _share(B, d):
    """Return the width that uses the budget up, as numerator and denominator."""
    return B - 4 * d * d, 3 * d


def _quotient(B, d):
    return (B - 4 * d * d) / (3 * d)


WIDTH = Exercise(
    name="width_for_budget",
    returns=("h",),
    reference=_h(lambda B, d, m, way: float(_multiples(_share(B, d), m, way))),
    claims=by_name(
        Claim("up", "Rounded up, it is the first multiple that uses the budget up.", _up, ("h",)),
        Claim("down", "Rounded down, it is the last multiple within the budget.", _down, ("h",)),
        Claim("exact", "A budget that fits exactly is not rounded at all.", _exact, ("h",)),
    ),
    mistakes=(
        Mistake(
            "attention_forgotten",
            "The budget is for a whole block. What else does it pay for?",
            _of(lambda B, d: (B, 3 * d)),
        ),
        Mistake(
            "two_matrices",
            "By how many matrices is the net's share divided?",
            _of(lambda B, d: (B - 4 * d * d, 2 * d)),
        ),
        Mistake(
            "one_matrix",
            "Is the net a single matrix?",
            _of(lambda B, d: (B - 4 * d * d, d)),
        ),
        Mistake(
            "three_of_attention",
            "How many matrices has attention?",
            _of(lambda B, d: (B - 3 * d * d, 3 * d)),
        ),
        Mistake(
            "both_in_one",
            "Do the squares of attention grow with h?",
            _of(lambda B, d: (B, 7 * d)),
        ),
        Mistake(
            "eight_thirds",
            "Does your width change with the budget?",
            _of(lambda B, d: (8 * d, 3)),
        ),
        Mistake(
            "always_up",
            "Does your function do what its last argument says?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, "up")),
        ),
        Mistake(
            "always_down",
            "In which direction is the width to be rounded here?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, "down")),
        ),
        Mistake(
            "turned_round",
            "What does up mean here: which of the two multiples is the larger?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, "down" if way == "up" else "up")),
        ),
        Mistake(
            "nearest",
            "Do you round to the nearest multiple?",
            _h(lambda B, d, m, way: round(_quotient(B, d) / m) * m),
        ),
        Mistake(
            "not_rounded",
            "Is your width a multiple of the third argument?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), 1, way)),
        ),
        Mistake(
            "cut_off",
            "Is your width a multiple of the third argument? And what became of its fraction?",
            _h(lambda B, d, m, way: _quotient(B, d) // 1),
        ),
        Mistake(
            "a_fraction",
            "Can a matrix have that many columns? Is your width a whole number?",
            _h(lambda B, d, m, way: _quotient(B, d)),
        ),
        Mistake(
            "cut_off_first",
            "Is a fraction cut off before you round up?",
            _h(lambda B, d, m, way: _multiples((_quotient(B, d) // 1, 1), m, way)),
        ),
        Mistake(
            "always_one_more",
            "What does your rounding do with a width that is a multiple already?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, "down") + m * (way == "up")),
        ),
        Mistake(
            "always_one_less",
            "May the block cost exactly what the budget is?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, "up") - m * (way == "down")),
        ),
        Mistake(
            "multiple_fixed",
            "Does your function use the multiple that it is given?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), 256, way)),
        ),
        Mistake(
            "number_of_multiples",
            "Is your number the width, or how many multiples it has?",
            _h(lambda B, d, m, way: _multiples(_share(B, d), m, way) // m),
        ),
        Mistake(
            "power_of_two",
            "Must the width be a power of two?",
            _h(lambda B, d, m, way: 2 ** math.ceil(math.log2(_quotient(B, d)))),
        ),
    ),
)
