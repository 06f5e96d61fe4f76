"""AdamW, its learning rate by step, and gradient clipping: trees in, trees out."""

import math

import numpy as np

from transformer_block._trees import flatten, tree_map


def adamw_start(params):
    """Make the state that AdamW carries from step to step: both averages at zero.

    Parameters
    ----------
    params : dict
        Arrays in nested dicts and lists.

    Returns
    -------
    state : dict
        ``step``, and ``mean`` and ``square`` with an array of zeros for every parameter.
    """
    zeros = [tree_map(np.zeros_like, params) for _ in range(2)]
    return {"step": 0, "mean": zeros[0], "square": zeros[1]}


def adamw_update(params, grads, state, rate, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1):
    """Take one step of Adam with decoupled weight decay.

    Parameters
    ----------
    params : dict
        Arrays in nested dicts and lists.
    grads : dict
        Their gradients, in the same places.
    state : dict
        From `adamw_start`, or from the step before.
    rate : float
        The learning rate of this step.
    betas : tuple
        How much of the running mean of the gradient, and of its square, stays at each step.
    eps : float
        Added to the root of the mean square, against a division by zero.
    weight_decay : float
        Each step takes the share ``rate * weight_decay`` from every matrix. Vectors, which are
        the gains of the norms, do not decay: zero is no natural size for a factor.

    Returns
    -------
    params : dict
        The new parameters, in the dtypes of the old.
    state : dict
        The new state.

    Notes
    -----
    Both averages start at zero and are divided by 1 − betaᵗ, which makes them averages of the
    t gradients seen so far. Source: Loshchilov & Hutter 2019, Decoupled Weight Decay
    Regularization.
    """
    step = state["step"] + 1
    keep, keep_square = betas
    mean = tree_map(lambda m, g: keep * m + (1 - keep) * g, state["mean"], grads)
    square = tree_map(
        lambda s, g: keep_square * s + (1 - keep_square) * g * g, state["square"], grads
    )
    bias, bias_square = 1 - keep**step, 1 - keep_square**step

    def moved(p, m, s):
        kept = p * (1 - rate * weight_decay) if p.ndim > 1 else p
        return kept - (rate / bias) * m / (np.sqrt(s / bias_square) + eps)

    new = tree_map(moved, params, mean, square)
    return new, {"step": step, "mean": mean, "square": square}


def warmup_cosine(step, peak, n_warmup, n_steps, floor=0.0):
    """Give the learning rate of one step: a straight line up, then half a cosine down.

    Parameters
    ----------
    step : int
        Counted from 0.
    peak : float
        The largest rate, reached at step ``n_warmup``.
    n_warmup : int
        Steps of the way up; the first has rate ``peak / (n_warmup + 1)``, not zero.
    n_steps : int
        The step from which on the rate is ``floor``.
    floor : float
        The last rate.

    Returns
    -------
    rate : float
        For this step.

    Raises
    ------
    ValueError
        If ``n_warmup`` is not smaller than ``n_steps``.
    """
    if not 0 <= n_warmup < n_steps:
        raise ValueError(f"n_warmup must lie from 0 to n_steps-1 = {n_steps - 1}: got {n_warmup}")
    if step < n_warmup:
        return peak * (step + 1) / (n_warmup + 1)
    way = min(1.0, (step - n_warmup) / (n_steps - n_warmup))
    return floor + (peak - floor) * 0.5 * (1.0 + math.cos(math.pi * way))


def global_norm(grads):
    """Measure the length of all gradients taken as one long vector.

    Parameters
    ----------
    grads : dict
        Arrays in nested dicts and lists.

    Returns
    -------
    norm : float
        The root of the sum of all squares, summed in float64.
    """
    flat = (np.asarray(g, dtype=np.float64).ravel() for g in flatten(grads).values())
    return math.sqrt(sum(float(g @ g) for g in flat))


def clip_gradients(grads, max_norm):
    """Scale all gradients by one factor if together they are longer than ``max_norm``.

    Parameters
    ----------
    grads : dict
        Arrays in nested dicts and lists.
    max_norm : float
        The longest step direction allowed; above zero.

    Returns
    -------
    grads : dict
        The same directions, no longer than ``max_norm``, in the same dtypes.
    norm : float
        The `global_norm` before.

    Raises
    ------
    ValueError
        If ``max_norm`` is not positive, or a gradient is no finite number.
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm must be positive: got {max_norm}")
    norm = global_norm(grads)
    if not math.isfinite(norm):
        raise ValueError(f"gradients must be finite: got a norm of {norm}")
    factor = min(1.0, max_norm / (norm + 1e-6))  # the 1e-6 is PyTorch's, against 0 / 0
    return tree_map(lambda g: g * factor, grads), norm
