"""The hidden width: three matrices for the price of two, rounded up."""

import math

from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name


def _case(d, multiple_of):
    return Case({"d": d, "multiple_of": multiple_of}, f"d = {d}, multiples of {multiple_of}")


def _budget(rng):
    """Draw widths for which 8d/3 is a whole multiple, so that rounding changes nothing."""
    for multiple_of in (256, 64):
        yield _case(int(3 * multiple_of * rng.integers(2, 9)), multiple_of)


def _rounded(rng):
    yield _case(4096, 256)
    yield _case(int(rng.choice([512, 1280, 2048, 3584])), 256)
    yield _case(int(rng.choice([640, 832, 1024])), 64)
    odd = 2 * int(rng.integers(8, 32)) + 1
    yield _case(3 * 64 // 8 * odd, 64)  # 8d/3 is an odd multiple of 64


def _up(width, multiple_of):
    return math.ceil(width / multiple_of) * multiple_of


def _h(formula):
    return lambda d, multiple_of: {"h": formula(d, multiple_of)}


WIDTH = Exercise(
    name="swiglu_width",
    returns=("h",),
    reference=_h(lambda d, m: float(-(-8 * d // (3 * m)) * m)),
    claims=by_name(
        Claim("budget", "Three matrices cost what two of width 4d cost.", _budget, ("h",)),
        Claim(
            "rounded", "The width is the next multiple that is not below 8d/3.", _rounded, ("h",)
        ),
    ),
    mistakes=(
        Mistake(
            "classic",
            "How many parameters do three matrices of this width have? And two of width 4d?",
            _h(lambda d, m: _up(4 * d, m)),
        ),
        Mistake(
            "two_thirds_twice",
            "How often do you take two thirds?",
            _h(lambda d, m: _up(16 * d / 9, m)),
        ),
        Mistake(
            "four_forgotten",
            "Two thirds of which width: d, or the classic net's?",
            _h(lambda d, m: _up(2 * d / 3, m)),
        ),
        Mistake(
            "inverted",
            "Does a third matrix make the net wider or narrower than 4d?",
            _h(lambda d, m: _up(6 * d, m)),
        ),
        Mistake(
            "three_for_two",
            "The budget is 8d². By how many matrices do you share it?",
            _h(lambda d, m: _up(4 * d / 3, m)),
        ),
        Mistake(
            "not_rounded",
            "Is your width a multiple of the second argument?",
            _h(lambda d, m: 8 * d // 3),
        ),
        Mistake(
            "rounded_to_one",
            "You round up to a whole number. Of what should the width be a multiple?",
            _h(lambda d, m: math.ceil(8 * d / 3)),
        ),
        Mistake(
            "a_fraction",
            "Can a matrix have that many columns? Is your width a whole number?",
            _h(lambda d, m: 8 * d / 3),
        ),
        Mistake(
            "rounded_down",
            "In which direction do you round when 8d/3 lies between two multiples?",
            _h(lambda d, m: 8 * d // 3 // m * m),
        ),
        Mistake(
            "nearest",
            "Do you round to the nearest multiple, or up?",
            _h(lambda d, m: round(8 * d / 3 / m) * m),
        ),
        Mistake(
            "half_added",
            "You add a half and round. What comes of a width that is an odd multiple already?",
            _h(lambda d, m: round(8 * d / 3 / m + 0.5) * m),
        ),
        Mistake(
            "always_one_more",
            "What does your rounding do with a width that is a multiple already?",
            _h(lambda d, m: (8 * d // 3 // m + 1) * m),
        ),
        Mistake(
            "multiple_fixed",
            "Does your function use the multiple that it is given?",
            _h(lambda d, m: _up(8 * d / 3, 256)),
        ),
        Mistake(
            "power_of_two",
            "Must the width be a power of two, or a multiple of the second argument?",
            _h(lambda d, m: 2 ** math.ceil(math.log2(8 * d / 3))),
        ),
    ),
)
