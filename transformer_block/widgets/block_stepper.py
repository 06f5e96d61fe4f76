"""Block stepper: a pre-norm block forward and back, one array after the other."""

from collections.abc import Mapping
from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.widgets._base import Within, self_contained, stylesheet
from transformer_block.widgets._block_walk import lines, listings, walk

WIDEST = 8  # features of a row, as many as a telephone shows
LONGEST = 4  # tokens, and heads
STEPS = lines()


class BlockStepper(anywidget.AnyWidget):
    """Step through a small pre-norm block forward and back, with every array on the way.

    Parameters
    ----------
    step : int
        Which step is shown, 0 to 28; the backward pass begins at 14.
    x : ndarray of float, shape (T, d), optional
        A stream of yours: at most 4 tokens, and 8 features.
    params : dict, optional
        Weights of yours, as for `transformer_block_forward`; no width above 8.
    n_heads : int
        How many heads the queries have, 1 to 4.
    dout : ndarray of float, shape (T, d), optional
        The gradient at the output.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above, or they do not fit each other. To change several at
        once, do it within ``with stepper.hold_trait_notifications():``.
    """

    _esm = self_contained("block_stepper")
    _css = stylesheet("block_stepper")

    step = Within(0, 0, len(STEPS) - 1).tag(sync=True)
    values = traitlets.Bytes().tag(sync=True)  # float32, one array after the other
    shapes = traitlets.List().tag(sync=True)  # of each array: its name, and its axes
    lines = traitlets.Dict(STEPS).tag(sync=True)
    listings = traitlets.Dict(listings()).tag(sync=True)
    x = traitlets.Any(None, allow_none=True)
    params = traitlets.Instance(Mapping, allow_none=True)
    n_heads = Within(2, 1, LONGEST)
    dout = traitlets.Any(None, allow_none=True)

    def __init__(self, **traits):
        super().__init__(**traits)
        self._follow(None)

    @traitlets.validate("x", "params", "n_heads", "dout")
    def _check(self, proposal):
        asked = {name: getattr(self, name) for name in ("x", "params", "n_heads", "dout")}
        try:
            values_of(**{**asked, proposal.trait.name: proposal.value})
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return proposal.value

    @traitlets.observe("x", "params", "n_heads", "dout")
    def _follow(self, _):
        """Send every array of the walk."""
        values = values_of(self.x, self.params, self.n_heads, self.dout)
        rows = [np.ravel(array) for array in values.values()]
        with self.hold_sync():
            self.values = np.concatenate(rows).astype(np.float32).tobytes()
            self.shapes = [[name, list(array.shape)] for name, array in values.items()]


def values_of(x, params, n_heads, dout):
    """Walk through the block with what was handed in, and the built-in example for the rest.

    Raises
    ------
    ValueError
        If an array is not what the picture can show, or they do not fit each other.
    """
    params = example() if params is None else checked_params(params)
    d = np.size(params["attn_norm"])
    own_x, own_dout = streams(d)
    x = matrix("x", own_x[:3] if x is None else x, d)
    dout = matrix("dout", own_dout[: len(x)] if dout is None else dout, d)
    return walk(x, params, n_heads, dout)


@cache
def example():
    """Draw a block of width 4 with two heads and a net of width 6, in round numbers."""
    rng = np.random.default_rng(5)
    shapes = {"W_q": (4, 4), "W_k": (4, 4), "W_v": (4, 4), "W_o": (4, 4)}
    shapes |= {"W_gate": (4, 6), "W_up": (4, 6), "W_down": (6, 4)}
    params = {name: rng.normal(0, 0.7, shape).round(1) for name, shape in shapes.items()}
    gains = {name: rng.uniform(0.5, 1.5, 4).round(1) for name in ("attn_norm", "ffn_norm")}
    return params | gains


@cache
def streams(d):
    """Draw a stream and a gradient of width d, in round numbers."""
    return np.random.default_rng(22).normal(size=(2, LONGEST, d)).round(1)


def checked_params(params):
    """Take the nine weights as float64; their shapes are for the block to judge."""
    wanted = example()
    missing = [name for name in wanted if name not in params]
    if missing:
        raise ValueError(f"params must hold {', '.join(wanted)}: {missing[0]} is missing")
    return {name: finite(name, params[name], WIDEST) for name in wanted}


def matrix(name, rows, d):
    """Take rows of width d as float64."""
    rows = finite(name, rows, WIDEST)
    if rows.ndim != 2 or not 1 <= len(rows) <= LONGEST or rows.shape[1] != d:
        raise ValueError(f"{name} must have shape (1 to {LONGEST}, {d}): got {rows.shape}")
    return rows


def finite(name, array, widest):
    """Take an array as float64; no axis is longer than the picture has room for."""
    try:
        array = np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers: got {array!r}") from None
    if max(array.shape, default=0) > widest:
        raise ValueError(f"{name} must have no axis longer than {widest}: got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return array
