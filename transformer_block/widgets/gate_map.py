"""Gate map: what the gates of a real model, or of a net of yours, let through for each token."""

from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.real_traces import GATED, load_real_trace
from transformer_block.widgets._base import self_contained, stylesheet
from transformer_block.widgets._stored import array_of, packed_arrays, tokens_of, within

LARGEST = 500_000  # numbers of gates, and of ups
LONGEST = 64  # tokens


class GateMap(anywidget.AnyWidget):
    """Show gate, SiLU(gate), up and product (22.4): a row for each token, a column for each unit.

    Parameters
    ----------
    which : int
        Which of the blocks is shown, from 0.
    token : int
        The chosen token.
    unit : int
        The chosen hidden unit.
    shown : str
        What the maps show: ``"gate"``, ``"open"``, ``"up"`` or ``"hidden"``, the product.
    sorted : bool
        Order the units by the gates of the chosen token, the widest open first.
    gate : ndarray of float, shape (T, h) or (n, T, h), optional
        Gates of yours before their curve, of one block or several, as from `trace_decoder`;
        they are shown in place of those of SmolLM2-135M.
    up : ndarray of float, optional
        Your ups, of the same shape.
    tokens : sequence of str, optional
        The texts of your T tokens.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("gate_map")
    _css = stylesheet("maps", "gate_map")

    which = traitlets.Int(0).tag(sync=True)
    token = traitlets.Int(0).tag(sync=True)
    unit = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Enum(["gate", "open", "up", "hidden"], "open").tag(sync=True)
    sorted = traitlets.Bool(False).tag(sync=True)
    blocks = traitlets.List().tag(sync=True)  # their numbers
    tokens = traitlets.List().tag(sync=True)
    h = traitlets.Int().tag(sync=True)
    arrays = traitlets.List().tag(sync=True)  # how the data are to be read
    data = traitlets.Bytes().tag(sync=True)  # float16, gates (n, T, h), then ups

    def __init__(self, gate=None, up=None, tokens=None, **moves):
        if (gate is None) != (up is None):
            raise traitlets.TraitError("gate and up must come together")
        shown = stored_gates() if gate is None else given_gates(gate, up, tokens)
        super().__init__(**shown, **moves)

    @traitlets.validate("which", "token", "unit")
    def _check(self, proposal):
        counts = {"which": len(self.blocks), "token": len(self.tokens), "unit": self.h}
        return within(proposal.trait, proposal.value, counts[proposal.trait.name])


@cache
def stored_gates():
    """Read the gates of some blocks of the pretrained model, for every token of a sentence."""
    trace = load_real_trace(GATED[0])
    return shown_gates(trace["gated_gate"], trace["gated_up"], trace["tokens"], trace["gated"])


def given_gates(gate, up, tokens):
    """Check the gates of a learner.

    Raises
    ------
    traitlets.TraitError
        If they cannot be shown.
    """
    gates, ups = array_of("gate", gate, (2, 3)), array_of("up", up, (2, 3))
    T = gates.shape[-2]
    if gates.shape != ups.shape or gates.size > LARGEST or T > LONGEST:
        raise traitlets.TraitError(
            f"gate and up must have one shape, with at most {LONGEST} tokens and "
            f"{LARGEST:,} numbers: got {gates.shape} and {ups.shape}"
        )
    if max(np.abs(gates).max(), np.abs(ups).max()) > np.finfo(np.float16).max:
        raise traitlets.TraitError("gate and up must fit into float16, up to 65504")
    gates, ups = (array.reshape(-1, *array.shape[-2:]) for array in (gates, ups))
    return shown_gates(gates, ups, tokens_of(tokens, T), range(len(gates)))


def shown_gates(gates, ups, tokens, blocks):
    """Write gates and ups as the browser reads them."""
    arrays, data = packed_arrays({"gate": gates.astype("f2"), "up": ups.astype("f2")})
    return {
        "blocks": [int(block) for block in blocks],
        "tokens": [str(token) for token in tokens],
        "h": gates.shape[-1],
        "arrays": arrays,
        "data": data,
    }
