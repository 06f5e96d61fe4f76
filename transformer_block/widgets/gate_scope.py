"""Gate scope: one feature of a gated net, what its gate lets through and what each path learns."""

import anywidget
import numpy as np
import traitlets

from transformer_block.widgets._base import Within, numbers, self_contained, stylesheet, told

GATES = (-6.0, 4.0)  # the range of the gate
UPS = (-4.0, 4.0)
STEPS = 200  # twenty to a unit, as the slider steps: a learner's function is known at each
HALF_STEP = 1e-5  # of the central difference that stands in for a slope


class GateScope(anywidget.AnyWidget):
    """Show one product of (22.4), and the gradient on each of the two paths into it.

    Parameters
    ----------
    gate : float
        The gate before its curve, from -6 to 4.
    up : float
        What may come through, from -4 to 4.
    curve : str
        The curve on the gate: ``"silu"``, ``"gelu"``, ``"relu"`` or ``"sigmoid"``; or
        ``"yours"`` with a function of yours.
    activation : callable, optional
        A function of yours, called like `silu` on an array. It is drawn beside the others.
    slope : callable, optional
        Its derivative, called like `silu_derivative`; without it central differences are drawn.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("gate_scope")
    _css = stylesheet("gate_scope")

    gate = Within(1.5, *GATES).tag(sync=True)
    up = Within(2.0, *UPS).tag(sync=True)
    curve = traitlets.Enum(["silu", "gelu", "relu", "sigmoid", "yours"], "silu").tag(sync=True)
    yours = traitlets.Dict().tag(sync=True)
    activation = traitlets.Callable(None, allow_none=True)
    slope = traitlets.Callable(None, allow_none=True)

    @traitlets.observe("activation", "slope")
    def _follow(self, _):
        known = self.activation is not None
        self.yours = told(self.activation, self._run) if known else {}

    def _run(self):
        """Run the learner's function, and its slope or finite differences, along the axis."""
        gates = np.linspace(*GATES, STEPS + 1)
        values = outputs_of(self.activation, gates)
        if self.slope is None:
            ahead, behind = (outputs_of(self.activation, gates + s * HALF_STEP) for s in (1, -1))
            slopes = (ahead - behind) / (2 * HALF_STEP)
        else:
            slopes = outputs_of(self.slope, gates)
        return {"values": numbers(values), "slopes": numbers(slopes)}


def outputs_of(function, gates):
    """Call a function on gates and return what it makes of them, in float64.

    Raises
    ------
    ValueError
        If it does not return one number for each gate.
    """
    out = np.asarray(function(gates.copy()), dtype=np.float64)
    if out.shape != gates.shape:
        raise ValueError(f"the output must have the shape of x, {gates.shape}: got {out.shape}")
    return out
