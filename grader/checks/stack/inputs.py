"""Inputs of this sheet: ids that come again, a vocabulary that is no other size, small stacks."""

import numpy as np

from grader.checks.engine import witness

VOCABULARIES = (17, 19, 23)
WIDTHS = (11, 13)
LENGTHS = (5, 7)
LEADING = {0: (), 1: (3,), 2: (2, 3)}


def sizes(rng):
    """Draw V, T and d, distinct primes."""
    return [int(rng.choice(several)) for several in (VOCABULARIES, LENGTHS, WIDTHS)]


def some_ids(rng, V, shape):
    """Draw ids that come again; the first and the last of the vocabulary are among them.

    No one of several sequences holds them all, so that each sequence counts.
    """
    n = int(np.prod(shape))
    inner = rng.choice(np.arange(1, V - 1), size=min(max(3, n // 2), 12) - 2, replace=False)
    pool = np.concatenate([[0, V - 1], inner])
    return rng.permutation(np.resize(pool, n)).reshape(shape)


def spread_logits(rng, shape):
    """Draw logits of which a softmax makes neither one peak nor all the same."""
    return witness.rows(rng, shape, 1.5)


def stack(rng, n_blocks=2, leading=1):
    """Draw ids and the parameters of a small stack with tied weights; gains are not one."""
    V, T, d = sizes(rng)
    params = {
        "embedding": 0.7 * rng.normal(size=(V, d)),
        "blocks": [_block(rng, d) for _ in range(n_blocks)],
        "final_norm": witness.gain(rng, d) / 2,
    }
    return {"ids": some_ids(rng, V, (*LEADING[leading], T)), "params": params, "n_heads": 2}


def _block(rng, d, H=2, K=4, h=17):
    shapes = {
        "W_q": (d, H * K), "W_k": (d, H * K), "W_v": (d, H * K), "W_o": (H * K, d),
        "W_gate": (d, h), "W_up": (d, h), "W_down": (h, d),
    }  # fmt: skip
    drawn = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    return {**drawn, "attn_norm": witness.gain(rng, d) / 2, "ffn_norm": witness.gain(rng, d) / 2}
