"""RoPE dial: the pairs of a query and of a key as hands of clocks, and the score they make."""

import anywidget
import numpy as np
import traitlets

from transformer_block.widgets._base import Row, Within, numbers, self_contained, stylesheet, told

FARTHEST = 32  # position of either token before both are moved
SHIFTS = 100


class RoPEDial(anywidget.AnyWidget):
    """Turn a query and a key by their positions, and show that their score knows the distance.

    Parameters
    ----------
    query : sequence of float, shape (K,)
        One query before it is turned; K is even, 2 to 16.
    key : sequence of float, shape (K,)
        One key before it is turned.
    query_at : int
        The query's position, 0 to 32.
    key_at : int
        The key's position, 0 to 32.
    shift : int
        How far both are moved on from there, 0 to 100.
    pairing : str
        ``"interleaved"``, ``"half_split"``, or ``"mixed"``: the query turned in the first, the
        key in the second, which is a mistake.
    rope_base : float
        As in `rope_angles`, 10 to 1,000,000.
    turn : callable, optional
        A function of yours, called like `rope_forward` as
        ``turn(x, positions, rope_base, half_split)``; it may return ``out`` alone. Its scores
        are drawn beside the others, and follow them while Python runs.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("rope_dial")
    _css = stylesheet("rope_dial")

    query = Row([1.2, 0.4, -0.6, 0.9, 0.8, -0.7, 0.5, 1.0], shortest=2, longest=16).tag(sync=True)
    key = Row([0.9, 0.7, 0.2, 1.1, 1.0, -0.2, 0.7, 0.8], shortest=2, longest=16).tag(sync=True)
    query_at = Within(5, 0, FARTHEST).tag(sync=True)
    key_at = Within(2, 0, FARTHEST).tag(sync=True)
    shift = Within(0, 0, SHIFTS).tag(sync=True)
    pairing = traitlets.Enum(["interleaved", "half_split", "mixed"], "interleaved").tag(sync=True)
    rope_base = Within(10_000.0, 10.0, 1e6).tag(sync=True)
    yours = traitlets.Dict().tag(sync=True)
    turn = traitlets.Callable(None, allow_none=True)

    @traitlets.validate("query", "key")
    def _check_pairs(self, proposal):
        K, other = len(self.query), len(self.key)
        if K % 2 or K != other:
            raise traitlets.TraitError(
                f"query and key must have one even width: got {K} and {other} numbers"
            )
        return proposal.value

    @traitlets.observe(
        "turn", "query", "key", "query_at", "key_at", "shift", "pairing", "rope_base"
    )
    def _follow(self, _):
        self.yours = {} if self.turn is None else told(self.turn, self._run)

    def _run(self):
        """Run the learner's function where both tokens move together, and where one moves away."""
        shifts = np.arange(SHIFTS + 1)
        distances = np.arange(-FARTHEST, FARTHEST + 1)
        key_at = self.key_at + self.shift
        return {
            "shifts": numbers(self._scores(self.query_at + shifts, self.key_at + shifts)),
            "distances": numbers(self._scores(key_at + distances, np.full(len(distances), key_at))),
            "at": [self.query_at, self.key_at, self.shift, self.rope_base, *self.query, *self.key],
            "pairing": self.pairing,
        }

    def _scores(self, query_at, key_at):
        """Score the query at each of some positions with the key at each of others."""
        turned = [
            turned_rows(self.turn, row, positions, self.rope_base, self.pairing in halves)
            for row, positions, halves in (
                (self.query, query_at, {"half_split"}),
                (self.key, key_at, {"half_split", "mixed"}),
            )
        ]
        return np.sum(turned[0] * turned[1], axis=-1)


def turned_rows(turn, row, positions, rope_base, half_split):
    """Turn one row to each of some positions by the learner's function.

    Raises
    ------
    ValueError
        If the output does not have one row for each position.
    """
    rows = np.tile(np.array(row), (len(positions), 1))
    returned = turn(rows.copy(), positions, rope_base, half_split)
    out = np.asarray(returned[0] if isinstance(returned, tuple) else returned, dtype=np.float64)
    if out.shape != rows.shape:
        raise ValueError(f"out must have the shape of x, {rows.shape}: got {out.shape}")
    return out
