"""Central differences: functions whose slopes are known for every step, and what goes wrong."""

import numpy as np

from grader.checks.block.errors import measured
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from transformer_block.gradcheck import STEP

LOOSE = 1e-8  # a central difference with a good step is 100 times nearer than this


def _ramp(t):
    """Weigh every entry otherwise, in the order of its place."""
    return 1.0 + np.arange(t.size).reshape(t.shape) / 3


def waves(t):
    """Add up sines, so that slopes have both signs and no derivative is zero."""
    return float(np.sum(np.sin(t) * _ramp(t)))


def bowl(t):
    """Give a quadratic function in which every two entries meet."""
    flat = np.asarray(t).reshape(-1)
    return float(np.sum(flat) ** 2 / 2 + np.sum(flat * flat * _ramp(flat)) + 5.0)


def cubes(t):
    """Add up third powers: a central difference is off by the square of the step."""
    return float(np.sum(t * t * t * _ramp(t)))


def _waves_slope(t, h):
    return np.cos(t) * _ramp(t) * np.sinc(h / np.pi)


def _bowl_slope(t, h):
    ramp = np.arange(t.size).reshape(t.shape) / 3
    return np.sum(t) + 2 * t * (1 + ramp) + 0 * h


def _cubes_slope(t, h):
    return (3 * t * t + h * h) * _ramp(t)


SLOPE = {waves: _waves_slope, bowl: _bowl_slope, cubes: _cubes_slope}


def _reference(f, x, step=STEP):
    point = np.array(x, dtype=np.float64)
    return {"gradient": SLOPE[f](point, step * np.maximum(1.0, np.abs(point)))}


def _case(f, x, about, step=None):
    inputs = {"f": f, "x": x} if step is None else {"f": f, "x": x, "step": step}
    return Case(inputs, about, LOOSE)


def _below_one(rng, shape):
    return rng.uniform(0.2, 0.95, size=shape) * rng.choice([-1.0, 1.0], size=shape)


def _central(rng):
    yield _case(bowl, _below_one(rng, 5), "a quadratic function, step 0.1", 0.1)
    yield _case(waves, _below_one(rng, 7), "a sum of sines, the step of the signature")


def _step(rng):
    yield _case(cubes, _below_one(rng, 5), "a sum of third powers, step 0.25", 0.25)
    yield _case(waves, _below_one(rng, 3), "a sum of sines, step 0.5", 0.5)


def _shapes(rng):
    yield _case(waves, _below_one(rng, (3, 5)), "an array of two axes")
    yield _case(bowl, _below_one(rng, (2, 3, 5)), "an array of three axes")
    yield _case(waves, np.asfortranarray(_below_one(rng, (3, 5))), "columns first in memory")
    yield _case(waves, np.array(_below_one(rng, ())), "one number, without axes")


def _integers(rng):
    x = rng.permutation(np.arange(-3, 6))[:5]
    yield _case(bowl, x, "an array of whole numbers")


def _single(rng):
    x = _below_one(rng, 5).astype(np.float32)
    yield _case(waves, x, "an array in float32")


def _large(rng):
    x = 1e6 * _below_one(rng, 5)
    yield _case(cubes, x, "entries of about a million")


def _zero(rng):
    x = _below_one(rng, 5)
    x[rng.permutation(5)[:2]] = 0.0
    yield _case(waves, x, "two entries that are exactly zero")


def _untouched(rng):
    yield _case(waves, _below_one(rng, (3, 5)), "two axes, looked at again after the call")


def _moved(formula):
    """Make a mistake of a formula for one entry: a function of f, of the moves, and of h."""

    def outputs(f, x, step=STEP):
        point = np.array(x, dtype=np.float64)
        found = np.empty_like(point)
        for i in np.ndindex(point.shape):
            h = step * max(1.0, abs(point[i]))
            found[i] = formula(lambda k, i=i, h=h: _at(f, point, i, k * h), h)
        return {"gradient": found}

    return outputs


def _at(f, point, i, move):
    moved = point.copy()
    moved[i] += move
    return f(moved)


def _half(left, right, divisor):
    """Give a formula of two evaluations."""
    return _moved(lambda at, h: (at(right) - at(left)) / (divisor * h))


def _left_moved(f, x, step=STEP):
    """Forget to put each entry back where it was."""
    point = np.array(x, dtype=np.float64)
    found = np.empty_like(point)
    for i in np.ndindex(point.shape):
        h = step * max(1.0, abs(point[i]))
        point[i] += h
        above = f(point)
        point[i] -= 2 * h
        found[i] = (above - f(point)) / (2 * h)
    return {"gradient": found}


def _together(f, x, step=STEP):
    point = np.array(x, dtype=np.float64)
    return {"gradient": np.full_like(point, (f(point + step) - f(point - step)) / (2 * step))}


def _step_fixed(f, x, step=STEP):
    if step == STEP:
        raise ValueError("only another step than that of the signature shows this mistake")
    return _reference(f, x)


def _no_floor(f, x, step=STEP):
    """Make the step a share of the entry."""
    if np.all(x):
        raise ValueError("only an entry of zero shows this mistake")
    right = _reference(f, x, step)["gradient"]
    return {"gradient": np.where(x == 0, np.nan, right)}


def _axes_reversed(f, x, step=STEP):
    if np.ndim(x) < 2:
        raise ValueError("only several axes show this mistake")
    return {"gradient": _reference(f, x, step)["gradient"].T.reshape(x.shape)}


MISTAKES = (
    Mistake(
        "one_sided",
        "At which two points do you evaluate f? Is the entry itself one of them?",
        _half(0, 1, 1),
    ),
    Mistake(
        "backward_sided",
        "Do your two points lie on both sides of the entry?",
        _half(-1, 0, 1),
    ),
    Mistake("not_halved", "How far are your two points apart?", _half(-1, 1, 1)),
    Mistake("halved_twice", "By what do you divide? How far did you walk?", _half(-1, 1, 4)),
    Mistake(
        "one_sided_halved",
        "How far is it from the entry to your second point, and by what do you divide?",
        _half(0, 1, 2),
    ),
    Mistake(
        "not_divided",
        "Is your result the difference of two values, or a slope?",
        _moved(lambda at, h: at(1) - at(-1)),
    ),
    Mistake("sign", "Which of the two values do you subtract from the other?", _half(1, -1, 2)),
    Mistake(
        "half_step", "Is step the whole distance of your two points, or half?", _half(-0.5, 0.5, 1)
    ),
    Mistake(
        "curvature",
        "Do you add the two values where they should be subtracted?",
        _moved(lambda at, h: (at(1) + at(-1) - 2 * at(0)) / (2 * h)),
    ),
    Mistake(
        "left_moved",
        "Where does an entry stand when you go on to the next one?",
        _left_moved,
    ),
    Mistake(
        "all_together",
        "How many entries do you move at a time?",
        _together,
    ),
    Mistake("step_fixed", "Is the step that is passed the step that you use?", _step_fixed),
    Mistake(
        "no_floor",
        "How large is your step for an entry that is zero?",
        _no_floor,
    ),
    Mistake(
        "axes_reversed",
        "Is each slope at the place of its entry?",
        _axes_reversed,
    ),
)

SLOPES = Exercise(
    name="numerical_gradient",
    returns=("gradient",),
    reference=_reference,
    claims=by_name(
        Claim(
            "central",
            "Each entry gets the slope between a point on its right and one on its left.",
            _central,
            ("gradient",),
            measured(),
        ),
        Claim("step", "The step that is passed is used.", _step, ("gradient",), measured()),
        Claim(
            "shapes",
            "The gradient has the shape of x, whatever its axes and its order in memory.",
            _shapes,
            ("gradient",),
            measured(
                "Is it x that you move, or a copy that f never sees? Flattening can make one.",
                "copy_moved",
            ),
        ),
        Claim(
            "integers",
            "An array of whole numbers gets its slopes, too.",
            _integers,
            ("gradient",),
            measured(
                "x holds whole numbers. What is left of x + step in an array of such?", "cut_off"
            ),
        ),
        Claim(
            "float32",
            "x in float32 is moved in float64.",
            _single,
            ("gradient",),
            measured(
                "x is in float32. In which dtype are the points at which you evaluate f?",
                "single",
            ),
        ),
        Claim(
            "large",
            "Large entries get a step that grows with them.",
            _large,
            ("gradient",),
            measured(
                "The entries are about a million. What is your step beside that?", "step_too_small"
            ),
        ),
        Claim(
            "zero",
            "An entry of zero gets a step, too.",
            _zero,
            ("gradient",),
            measured(),
        ),
        Claim("untouched", "x is left as it was.", _untouched, ("gradient",), leaves_arguments),
    ),
    mistakes=MISTAKES,
)
