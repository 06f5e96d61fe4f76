"""The turning of pairs: its claims, its cases and the ways it goes wrong."""

import numpy as np

from grader.checks.attention.formulas import angles_of, halves, neighbours, turned
from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import keeps_dtype, leaves_arguments


def _turn_case(rng, leading, K, about, positions=None, tolerance=1e-9):
    positions = np.arange(5) if positions is None else positions
    inputs = {
        "x": witness.rows(rng, (*leading, len(positions), K)),
        "angles": angles_of(positions, K, 30.0),
    }
    return Case(inputs, about, tolerance)


def _pairs(rng):
    yield _turn_case(rng, (), rng.choice((6, 10)), "five tokens, one head")
    yield _turn_case(rng, (), 2, "a head that is a single pair")


def _leading(rng):
    gaps = np.cumsum(rng.integers(2, 9, size=5))
    yield _turn_case(rng, (3,), 6, "three heads, positions with gaps", gaps)
    yield _turn_case(rng, (2, 3), 10, "two sequences of three heads")


def _types(rng):
    case = _turn_case(rng, (3,), 6, "x in float32, angles in float64", tolerance=1e-5)
    yield Case({**case.inputs, "x": case.inputs["x"].astype(np.float32)}, case.about, 1e-5)


def _untouched(rng):
    yield _turn_case(rng, (3,), 6, "three heads, looked at again after the call")


def _out(formula):
    return lambda x, angles: {"out": formula(x, angles)}


def _formula(formula):
    """Make a mistake that turns (a, b) by another formula."""
    return _out(lambda x, angles: turned(x, angles, formula=formula))


def _places(**places):
    """Make a mistake in which features form a pair."""

    def formula(x, angles):
        if x.shape[-1] == 2:
            raise ValueError("one pair is a pair in every layout")
        return turned(x, angles, **places)

    return _out(formula)


def _updated(a, b, cos, sin):
    """Use the new a where the old one belongs."""
    new = a * cos - b * sin
    return new, new * sin + b * cos


def _mixed(double, partner):
    """Lay the angles out one way and find the partner of a feature the other way."""

    def formula(x, angles):
        if x.shape[-1] == 2:
            raise ValueError("one pair is a pair in every layout")
        wide = double(angles)
        return x * np.cos(wide) + partner(x) * np.sin(wide)

    return _out(formula)


def neighbour_partner(x):
    """Return the partner of each feature among neighbours: −x₁, x₀, −x₃, x₂, …."""
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([-b, a], axis=-1).reshape(x.shape)


def half_partner(x):
    """Return the partner of each feature half a head away."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


TURN = Exercise(
    name="turn_pairs",
    returns=("out",),
    reference=_out(turned),
    claims=by_name(
        Claim("pairs", "Each pair of neighbours is turned by its own angle.", _pairs, ("out",)),
        Claim("heads", "All heads and sequences are turned alike.", _leading, ("out",)),
        Claim("types", "The result has the dtype of x.", _types, ("out",), keeps_dtype),
        Claim("untouched", "x is left as it was.", _untouched, ("out",), leaves_arguments),
    ),
    mistakes=(
        Mistake(
            "half_split",
            "Which two features make a pair in your function: neighbours, or i and i + K/2?",
            _places(read=halves),
        ),
        Mistake(
            "written_as_halves",
            "Where do the two results of a pair go? They should stand where the pair stood.",
            _places(read=neighbours, write=halves),
        ),
        Mistake(
            "read_as_halves",
            "You read pairs in one layout and write them in another. Which two belong together?",
            _places(read=halves, write=neighbours),
        ),
        Mistake(
            "angles_as_halves",
            "Your partners are neighbours. Do both of them get the same angle?",
            _mixed(lambda angles: np.tile(angles, 2), neighbour_partner),
        ),
        Mistake(
            "partners_as_halves",
            "Neighbours get the same angle in your function. Whom do you combine each one with?",
            _mixed(lambda angles: np.repeat(angles, 2, axis=-1), half_partner),
        ),
        Mistake(
            "turned_back",
            "In which direction does your turn go? Turn (1, 0) by a small angle and look at b.",
            _formula(lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)),
        ),
        Mistake(
            "first_sign",
            "Turn (1, 1) by 90 degrees with your formula. Is the first number what you expect?",
            _formula(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
        ),
        Mistake(
            "second_sign",
            "Turn (1, 1) by 90 degrees with your formula. Is the second number what you expect?",
            _formula(lambda a, b, cos, sin: (a * cos - b * sin, b * cos - a * sin)),
        ),
        Mistake(
            "mirrored",
            "With angle zero nothing should move. What does your formula do to b?",
            _formula(lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)),
        ),
        Mistake(
            "cosine_for_sine",
            "With angle zero nothing should move. Have the sine and the cosine their places?",
            _formula(lambda a, b, cos, sin: (a * sin - b * cos, a * cos + b * sin)),
        ),
        Mistake(
            "cosine_alone",
            "Is the length of a pair the same before and after? Where is its other member?",
            _formula(lambda a, b, cos, sin: (a * cos, b * cos)),
        ),
        Mistake(
            "new_for_old",
            "When you compute the new b: is it the old a that you use, or the new one?",
            _formula(_updated),
        ),
        Mistake(
            "first_angle_for_all",
            "Do all pairs of a head turn by the same angle?",
            _out(lambda x, angles: turned(x, angles[:, :1] + 0 * angles)),
        ),
        Mistake(
            "added",
            "Is the position added to the features, or are they turned by it?",
            _out(lambda x, angles: x + np.repeat(angles, 2, axis=-1)),
        ),
    ),
)
