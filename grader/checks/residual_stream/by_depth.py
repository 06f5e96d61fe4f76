"""The size of the gradient before each block of a stack, for three orders."""

import numpy as np

from grader.checks.engine import witness
from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name
from grader.checks.engine.judges import leaves_arguments
from grader.checks.residual_stream.formulas import shape
from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.residual_stream import gradient_by_depth

DEPTHS = (2, 3)


def _block(rng, d):
    """Draw a small block whose writes are about as large as the stream."""
    h, K = 5, 2
    shapes = {
        "W_q": (d, 2 * K), "W_k": (d, 2 * K), "W_v": (d, 2 * K), "W_o": (2 * K, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d),
    }  # fmt: skip
    drawn = {name: 1.5 * rng.normal(size=s) / s[0] ** 0.5 for name, s in shapes.items()}
    return drawn | {name: witness.gain(rng, d) for name in ("attn_norm", "ffn_norm")}


def _case(rng, order, about, leading=1, scale=1.0):
    drawn = shape(rng, leading)
    blocks = [_block(rng, drawn[-1]) for _ in range(int(rng.choice(DEPTHS)))]
    inputs = {
        "x": witness.rows(rng, drawn),
        "blocks": blocks,
        "dout": witness.rows(rng, drawn, scale),
        "n_heads": 2,
        "order": order,
    }
    return Case(inputs, about)


def _pre(rng):
    yield _case(rng, "pre", "pre-norm blocks")
    yield _case(rng, "pre", "pre-norm blocks, a small gradient", 0, scale=1e-3)


def _orders(rng):
    yield _case(rng, "post", "post-norm blocks")
    yield _case(rng, "none", "blocks without residuals")


def _untouched(rng):
    yield _case(rng, "pre", "pre-norm blocks, looked at again after the call", 2)


def _rms(g):
    return np.sqrt(np.mean(g * g))


def _stack(x, blocks, dout, n_heads, order):
    """Return the streams, the gradients from the first block to the last, and the caches."""
    streams, caches = [x], []
    for block in blocks:
        out, cache = contrast_block_forward(streams[-1], block, n_heads, order=order)
        streams.append(out)
        caches.append(cache)
    return streams, _down(dout, caches), caches


def _down(dout, caches):
    gradients = [dout]
    for cache in reversed(caches):
        gradients.append(contrast_block_backward(gradients[-1], cache)[0])
    return gradients[::-1]


def _sizes(formula):
    """Make sizes of the streams, the gradients and the caches of a right run."""

    def outputs(x, blocks, dout, n_heads, order):
        return {"sizes": np.array(formula(*_stack(x, blocks, dout, n_heads, order)))}

    return outputs


def _measured(measure):
    """Make sizes with another measure."""
    return _sizes(lambda streams, gradients, caches: [measure(g) for g in gradients])


def _given(change):
    """Make the right sizes of other inputs."""
    return lambda x, blocks, dout, n_heads, order: {
        "sizes": gradient_by_depth(*change(x, blocks, dout, n_heads, order))
    }


def _not_chained(streams, gradients, caches):
    single = [_rms(contrast_block_backward(gradients[-1], c)[0]) for c in caches]
    return [*single, _rms(gradients[-1])]


def _identity_again(streams, gradients, caches):
    found = [gradients[-1]]
    for cache in reversed(caches):
        found.append(found[-1] + contrast_block_backward(found[-1], cache)[0])
    return [_rms(g) for g in found[::-1]]


def _caches_forward(streams, gradients, caches):
    return [_rms(g) for g in _down(gradients[-1], caches[::-1])]


MISTAKES = (
    Mistake(
        "last_first",
        "Which of your numbers belongs to the embedding: the first, or the last?",
        _sizes(lambda streams, gradients, caches: [_rms(g) for g in gradients[::-1]]),
    ),
    Mistake(
        "caches_forward",
        "Which block does the gradient reach first on its way back?",
        _sizes(_caches_forward),
    ),
    Mistake(
        "not_chained",
        "What goes into the backward pass of the next block: dout again?",
        _sizes(_not_chained),
    ),
    Mistake(
        "identity_again",
        "You add what came down to what a block sends back. Is it not in there already?",
        _sizes(_identity_again),
    ),
    Mistake(
        "streams_measured",
        "Is that the size of the gradient, or of the stream?",
        _sizes(lambda streams, gradients, caches: [_rms(x) for x in streams]),
    ),
    Mistake(
        "dout_missing",
        "L blocks have how many places before and after them? Which one is missing?",
        _sizes(lambda streams, gradients, caches: [_rms(g) for g in gradients[:-1]]),
    ),
    Mistake(
        "start_missing",
        "How many sizes are there for L blocks? Where is that of the embedding?",
        _sizes(lambda streams, gradients, caches: [_rms(g) for g in gradients[1:]]),
    ),
    Mistake(
        "only_the_first",
        "One number came back. At how many places is the gradient to be measured?",
        _sizes(lambda streams, gradients, caches: _rms(gradients[0])),
    ),
    Mistake(
        "relative_to_dout",
        "Do you divide by something at the end? What is asked for: a size, or a ratio?",
        _sizes(
            lambda streams, gradients, caches: [_rms(g) / _rms(gradients[-1]) for g in gradients]
        ),
    ),
    Mistake(
        "mean_square",
        "Which root is still to be taken?",
        _measured(lambda g: np.mean(g * g)),
    ),
    Mistake(
        "length",
        "Do you sum the squares, or average them? A longer text should not count for more.",
        _measured(lambda g: np.sqrt(np.sum(g * g))),
    ),
    Mistake(
        "mean_of_sizes",
        "Do you average the sizes of the entries, or their squares?",
        _measured(lambda g: np.mean(np.abs(g))),
    ),
    Mistake(
        "mean_of_lengths",
        "Do you average before the root, or after it?",
        _measured(lambda g: np.mean(np.sqrt(np.mean(g * g, axis=-1)))),
    ),
    Mistake(
        "spread",
        "Do you measure from zero, or from the mean of all entries?",
        _measured(np.std),
    ),
    Mistake(
        "largest",
        "Do you take the largest entry, or the typical one?",
        _measured(lambda g: np.max(np.abs(g))),
    ),
    Mistake(
        "for_each_token",
        "Is one number for each place wanted, or one for each token?",
        _measured(lambda g: np.sqrt(np.mean(g * g, axis=-1))),
    ),
    Mistake(
        "always_pre",
        "Does your function do anything with its last argument?",
        _given(lambda x, blocks, dout, n_heads, order: (x, blocks, dout, n_heads, "pre")),
    ),
    Mistake(
        "blocks_reversed",
        "Which block reads the embedding?",
        _given(lambda x, blocks, dout, n_heads, order: (x, blocks[::-1], dout, n_heads, order)),
    ),
    Mistake(
        "stream_not_moved",
        "What does your second block read: the embedding, or what the first one returned?",
        lambda x, blocks, dout, n_heads, order: {
            "sizes": np.array(
                [
                    _rms(g)
                    for g in _down(
                        dout,
                        [contrast_block_forward(x, b, n_heads, order=order)[1] for b in blocks],
                    )
                ]
            )
        },
    ),
)

BY_DEPTH = Exercise(
    name="gradient_by_depth",
    returns=("sizes",),
    reference=lambda x, blocks, dout, n_heads, order: {
        "sizes": gradient_by_depth(x, blocks, dout, n_heads, order)
    },
    claims=by_name(
        Claim(
            "pre", "The gradient is measured before every block and at the end.", _pre, ("sizes",)
        ),
        Claim("orders", "So it is for post-norm and without residuals.", _orders, ("sizes",)),
        Claim(
            "untouched",
            "Nothing is written into the arguments.",
            _untouched,
            ("sizes",),
            leaves_arguments,
        ),
    ),
    mistakes=MISTAKES,
)
