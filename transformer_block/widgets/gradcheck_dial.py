"""Gradient-check dial: what a finite difference is worth at each step, in float64 and float32."""

from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.gradcheck import STEP, numerical_gradient, relative_error
from transformer_block.rmsnorm import rmsnorm_backward, rmsnorm_forward
from transformer_block.widgets._base import Within, self_contained, stylesheet, told

STEPS = 10.0 ** (np.arange(111) / 10 - 12)  # 1e-12 to 1e-1, ten to a power of ten
DTYPES = (np.float64, np.float32)
LARGE = 1e-2  # a step at which truncation is all there is
KINK = 1e-4  # how far an entry stands from relu's corner


class GradCheckDial(anywidget.AnyWidget):
    """Show the relative error of a gradient check over the step, and where it comes from.

    Parameters
    ----------
    step : float
        Half the distance of the two evaluations, 1e-12 to 0.1.
    case : str
        Which gradient is checked: ``"right"``, of RMSNorm; ``"wrong"``, the same without its
        second term; ``"kink"``, of relu near its corner; or ``"yours"``.
    loss : callable, optional
        A function of yours: takes an array, in float64 and in float32, and returns one number.
    x : ndarray of float, shape (...), optional
        Where your gradient is taken.
    gradient : ndarray of float, shape (...), optional
        The gradient that is checked.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("gradcheck_dial")
    _css = stylesheet("gradcheck_dial")

    step = Within(1e-5, 1e-12, 0.1).tag(sync=True)
    case = traitlets.Enum(["right", "wrong", "kink", "yours"], "right").tag(sync=True)
    errors = traitlets.Bytes().tag(sync=True)  # float32, (cases, 2 dtypes, 111 steps)
    losses = traitlets.Bytes().tag(sync=True)  # float64, (cases, 2 dtypes, above or below, 111)
    facts = traitlets.List().tag(sync=True)  # of each case, as from `measure`
    yours = traitlets.Dict().tag(sync=True)
    loss = traitlets.Callable(None, allow_none=True)
    x = traitlets.Any(None, allow_none=True)
    gradient = traitlets.Any(None, allow_none=True)

    def __init__(self, **traits):
        super().__init__(**traits)
        self._follow()

    @traitlets.observe("loss", "x", "gradient")
    def _on_change(self, _):
        self._follow()

    def _follow(self):
        """Send the three cases, and the learner's as a fourth where there is one."""
        measured = list(built_in_cases())
        shown = {}
        if self.loss is not None and self.x is not None and self.gradient is not None:

            def run():
                measured.append(measure(self.loss, np.asarray(self.x), np.asarray(self.gradient)))
                return {}

            shown = told(self.loss, run)
        errors, losses, facts = zip(*measured, strict=True)
        with self.hold_sync():
            self.errors = np.array(errors, dtype=np.float32).tobytes()
            self.losses = np.array(losses, dtype=np.float64).tobytes()
            self.facts = list(facts)
            self.yours = shown


@cache
def built_in_cases():
    """Measure a right gradient, a wrong one, and one near a kink."""
    rng = np.random.default_rng(0)
    x, dout = rng.normal(size=(2, 8))

    def norm(row):
        weight = np.ones(8, row.dtype)
        return np.sum(dout.astype(row.dtype) * rmsnorm_forward(row, weight, 1e-5)[0])

    def relu(row):
        return np.sum(dout.astype(row.dtype) * np.maximum(row, 0))

    dx, _ = rmsnorm_backward(dout, rmsnorm_forward(x, np.ones(8), 1e-5)[1])
    inv_rms = 1 / np.sqrt(np.mean(x**2) + 1e-5)
    near = np.where(np.arange(8) == 0, KINK, x)
    return (
        measure(norm, x, dx),
        measure(norm, x, dout * inv_rms),
        measure(relu, near, np.where(near > 0, dout, 0.0), smooth=False),
    )


def measure(loss, x, gradient, smooth=True):
    """Check a gradient at every step, with the loss in float64 and in float32.

    Returns
    -------
    errors : ndarray, shape (2, 111)
        The relative errors, by dtype and step.
    losses : ndarray, shape (2, 2, 111)
        The losses above and below, by dtype, for the entry of the largest gradient.
    facts : list
        The slope along that entry and how much its steps are longer than the step; then the
        factors of the straight lines: truncation is this times step², round-off in each dtype
        this over the step. 0: no such line.
    """
    in_dtype = [lambda t, dtype=dtype: float(loss(t.astype(dtype))) for dtype in DTYPES]
    errors = [
        [relative_error(numerical_gradient(f, x, step), gradient) for step in STEPS]
        for f in in_dtype
    ]
    at = np.unravel_index(np.argmax(np.abs(gradient)), x.shape)
    losses = [beside(f, x, at) for f in in_dtype]
    best = numerical_gradient(in_dtype[0], x, STEP)
    coarse = numerical_gradient(in_dtype[0], x, LARGE)
    truncation = relative_error(coarse, best) / LARGE**2 if smooth else 0.0
    # A loss is off by about one unit in its last place; a difference of two, over two steps.
    size = abs(in_dtype[0](np.array(x, np.float64))) * np.sqrt(x.size)
    noise = size / (4 * np.linalg.norm(best)) if best.any() else 0.0
    round_off = [float(np.finfo(dtype).eps * noise) for dtype in DTYPES]
    facts = [float(best[at]), reach(x[at]), truncation, *round_off]
    return np.array(errors), np.array(losses), facts


def reach(entry):
    """Tell how much longer than the step the check moves an entry."""
    return max(1.0, abs(float(entry)))


def beside(f, x, at):
    """Evaluate f a step above and a step below one entry, at every step, as the check does."""
    point = np.array(x, dtype=np.float64)
    moves = np.multiply.outer([1, -1], STEPS * reach(point[at]))  # (2, 111)
    values = np.empty(moves.shape)
    for i in np.ndindex(moves.shape):
        moved = point.copy()
        moved[at] += moves[i]
        values[i] = f(moved)
    return values
