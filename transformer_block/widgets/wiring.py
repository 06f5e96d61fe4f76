"""Wiring: pre-norm, post-norm and no residual, forward and backward, up to 64 blocks deep."""

from functools import cache

import anywidget
import numpy as np
import traitlets

from transformer_block.config import llama_config
from transformer_block.contrasts import ORDERS, contrast_block_backward, contrast_block_forward
from transformer_block.initialise import initialise_block
from transformer_block.widgets._base import Within, self_contained, stylesheet, told

DEEPEST = 64
N_HEADS = 4
WEIGHTS = {"small": 0.25, "middle": 0.5, "large": 1.0}  # standard deviation times √d


class Wiring(anywidget.AnyWidget):
    """Show how large stream and gradient are after every block, for three ways to wire one.

    Parameters
    ----------
    depth : int
        How many blocks are stacked, 1 to 64.
    layer : int
        The block after which sizes are read off, 0 to 64; 0 is below the first.
    order : str
        The wiring that is drawn strong: ``"pre"``, ``"post"`` or ``"none"``.
    weights : str
        How large the random matrices are: ``"small"``, ``"middle"`` or ``"large"``, a standard
        deviation of 0.25, 0.5 or 1 over √d.
    forward : callable, optional
        A block of yours, called as ``forward(x, params, n_heads)`` like
        `transformer_block_forward`.
    backward : callable, optional
        Its backward pass, called like `transformer_block_backward`.

    Raises
    ------
    traitlets.TraitError
        If an argument is not as said above.
    """

    _esm = self_contained("wiring")
    _css = stylesheet("wiring")

    depth = Within(32, 1, DEEPEST).tag(sync=True)
    layer = Within(0, 0, DEEPEST).tag(sync=True)
    order = traitlets.Enum([*ORDERS, "yours"], "pre").tag(sync=True)
    weights = traitlets.Enum(list(WEIGHTS), "large").tag(sync=True)
    streams = traitlets.Bytes().tag(sync=True)  # float32, (orders, weights, 65 layers)
    gradients = traitlets.Bytes().tag(sync=True)  # float32, (orders, weights, depths × layers)
    yours = traitlets.Dict().tag(sync=True)
    forward = traitlets.Callable(None, allow_none=True)
    backward = traitlets.Callable(None, allow_none=True)

    def __init__(self, **traits):
        super().__init__(**traits)
        self._follow(None)

    @traitlets.observe("forward", "backward")
    def _follow(self, _):
        """Send the three wirings, and the learner's block as a fourth where there is one."""
        traces, shown = list(built_in_traces()), {}
        if self.forward is not None and self.backward is not None:

            def run():
                traces.append(traces_of(self.forward, self.backward))
                return {}

            shown = told(self.forward, run)
        streams, gradients = zip(*traces, strict=True)
        with self.hold_sync():
            self.streams = np.array(streams, dtype=np.float32).tobytes()
            self.gradients = np.array(gradients, dtype=np.float32).tobytes()
            self.yours = shown


@cache
def built_in_traces():
    """Run the library's block in each of its three orders."""
    return tuple(
        traces_of(
            lambda x, params, n_heads, order=order: contrast_block_forward(
                x, params, n_heads, order=order
            ),
            contrast_block_backward,
        )
        for order in ORDERS
    )


def traces_of(forward, backward):
    """Measure one kind of block at all three sizes of its weights.

    Returns
    -------
    streams : ndarray, shape (3, 65)
        RMS of the stream, by size of the weights and layer.
    gradients : ndarray, shape (3, 2144)
        RMS of the gradient, as from `sizes_by_depth`.
    """
    traces = [sizes_by_depth(forward, backward, *random_stack(gain)) for gain in WEIGHTS.values()]
    return tuple(np.array(part) for part in zip(*traces, strict=True))


def random_stack(gain):
    """Draw the blocks, a stream to begin with, and a gradient of RMS 1; always the same ones."""
    rng = np.random.default_rng(0)
    config = llama_config(d=32, n_layers=1, n_heads=N_HEADS, n_kv_heads=N_HEADS, h=80, V=2)
    x, dout = rng.normal(size=(2, 4, 32))
    blocks = []
    for _ in range(DEEPEST):
        params = initialise_block(config, rng, std=gain / np.sqrt(32), dtype=np.float64)
        # Here every matrix is alike: what writes into the stream is not made smaller.
        blocks.append(
            {**params, "W_o": params["W_o"] * 2**0.5, "W_down": params["W_down"] * 2**0.5}
        )
    return blocks, x / rms(x), dout / rms(dout)


def sizes_by_depth(forward, backward, blocks, x, dout):
    """Measure the stream once, and the gradient in stacks of every depth.

    Returns
    -------
    streams : ndarray, shape (L + 1,)
        RMS of the stream after each block; a deeper stack begins with the same blocks.
    gradients : ndarray, shape (L (L + 3) / 2,)
        RMS of the gradient at layers 0 to 1 in a stack of one block, then at 0 to 2 in one of
        two, and so on; ``dout`` enters above the last block.

    Notes
    -----
    All stacks go back side by side: each enters the batch at its own height.
    """
    streams = [x]
    for params in blocks:
        streams.append(forward(streams[-1], params, N_HEADS)[0])
    L = len(blocks)
    sizes = np.zeros((L + 1, L + 1))  # depth, layer
    arriving = np.empty((0, *x.shape))
    for layer in range(L, 0, -1):
        arriving = np.concatenate([dout[np.newaxis], arriving])  # depths layer … L
        sizes[layer:, layer] = rms(arriving)
        stream = np.repeat(streams[layer - 1][np.newaxis], len(arriving), axis=0)
        _, kept = forward(stream, blocks[layer - 1], N_HEADS)
        arriving, _ = backward(arriving, kept)
    sizes[1:, 0] = rms(arriving)
    return rms(np.array(streams)), np.concatenate([sizes[n, : n + 1] for n in range(1, L + 1)])


def rms(rows):
    """Give the root of the mean square over the last two axes."""
    return np.sqrt(np.mean(np.square(rows), axis=(-1, -2)))
