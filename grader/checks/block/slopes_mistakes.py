"""Ways in which central differences go wrong: points, divisors, and what is moved."""

import numpy as np

from grader.checks.block.known_slopes import reference
from grader.checks.engine.exercise import Mistake
from transformer_block.gradcheck import STEP


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


def _rows_together(f, x, step=STEP):
    """Move a whole row along the first axis."""
    if np.ndim(x) < 2:
        raise ValueError("only several axes show this mistake")
    point = np.array(x, dtype=np.float64)
    found = np.empty_like(point)
    for row in range(len(point)):
        found[row] = (_at(f, point, row, step) - _at(f, point, row, -step)) / (2 * step)
    return {"gradient": found}


def _step_divides(f, x, step=STEP):
    """Walk a step that grows with the entry and divide by the one that does not."""
    longer = np.maximum(1.0, np.abs(np.asarray(x, dtype=np.float64)))
    return {"gradient": reference(f, x, step)["gradient"] * longer}


def _step_fixed(f, x, step=STEP):
    if step == STEP:
        raise ValueError("only another step than that of the signature shows this mistake")
    return reference(f, x)


def _no_floor(f, x, step=STEP):
    """Make the step a share of the entry."""
    if np.all(x):
        raise ValueError("only an entry of zero shows this mistake")
    right = reference(f, x, step)["gradient"]
    return {"gradient": np.where(x == 0, np.nan, right)}


def _axes_reversed(f, x, step=STEP):
    if np.ndim(x) < 2:
        raise ValueError("only several axes show this mistake")
    return {"gradient": reference(f, x, step)["gradient"].T.reshape(x.shape)}


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
    Mistake("rows_together", "Do you move one entry at a time, or a row?", _rows_together),
    Mistake(
        "step_divides",
        "Some steps are longer than the one that is passed. By which of the two do you divide?",
        _step_divides,
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
