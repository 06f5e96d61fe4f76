"""RMSNorm scope: what ε does to a small input, and RMSNorm beside LayerNorm on one vector."""

import anywidget
import numpy as np
import traitlets

from transformer_block.widgets._base import Row, numbers, self_contained, stylesheet, told

POWERS = (-8, 3)  # of ten: the sizes of input over which a function of the learner is drawn
STEPS = 88  # eight to a power of ten


class RMSNormScope(anywidget.AnyWidget):
    """Show what ε does in (22.2), and what RMSNorm and LayerNorm make of a vector.

    Parameters
    ----------
    vector : sequence of float, shape (d,)
        The vector whose entries can be dragged; 2 to 10 of them.
    scale : float
        Both norms are given ``scale * vector``; positive.
    eps : float
        Zero or more.
    norm : callable, optional
        A function of yours, called as ``norm(x, weight, eps)`` like `rmsnorm_forward`; it may
        return ``out`` alone. It is drawn beside the others, and follows them while Python runs.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("rmsnorm_scope")
    _css = stylesheet("rmsnorm_scope")

    # Mean 0.6, standard deviation 0.8, RMS 1.
    vector = Row([0.8, 1.4, -0.2, 0.6, 1.7, -0.9, 1.1, 0.3], shortest=2, longest=10).tag(sync=True)
    scale = traitlets.Float(0.002).tag(sync=True)
    eps = traitlets.Float(1e-5).tag(sync=True)
    yours = traitlets.Dict().tag(sync=True)
    norm = traitlets.Callable(None, allow_none=True)

    @traitlets.validate("scale")
    def _check_scale(self, proposal):
        if not 0 < proposal.value < np.inf:
            raise traitlets.TraitError(f"scale must be positive and finite: got {proposal.value}")
        return proposal.value

    @traitlets.validate("eps")
    def _check_eps(self, proposal):
        if not 0 <= proposal.value < np.inf:
            raise traitlets.TraitError(f"eps must be zero or more: got {proposal.value}")
        return proposal.value

    @traitlets.observe("norm", "vector", "scale", "eps")
    def _follow(self, _):
        self.yours = {} if self.norm is None else told(self.norm, self._run)

    def _run(self):
        """Run the function of the learner once, over all sizes and on the present input."""
        out = outputs_of(self.norm, self._rows(), self.eps)
        return {
            "powers": list(POWERS),
            "curve": numbers(np.sqrt(np.mean(out[:-1] ** 2, axis=-1))),
            "bars": numbers(out[-1]),
            "at": [self.scale, self.eps, *self.vector],
        }

    def _rows(self):
        """Rows of the vector's direction at every size of the axis, then the present input."""
        vector = np.array(self.vector)
        size = np.sqrt(np.mean(vector**2))
        direction = vector / size if size else np.ones_like(vector)
        sizes = np.logspace(*POWERS, STEPS + 1)
        return np.vstack([sizes[:, np.newaxis] * direction, self.scale * vector])


def outputs_of(norm, rows, eps):
    """Call a norm on rows with gain 1 and return its output, in float64.

    Raises
    ------
    ValueError
        If the output does not have the shape of the rows.
    """
    returned = norm(rows.copy(), np.ones(rows.shape[-1]), eps)
    out = np.asarray(returned[0] if isinstance(returned, tuple) else returned, dtype=np.float64)
    if out.shape != rows.shape:
        raise ValueError(f"out must have the shape of x, {rows.shape}: got {out.shape}")
    return out
