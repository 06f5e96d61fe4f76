"""What a function may ask of its arguments: one plain sentence each when it is not met."""

import numpy as np


def require_width(x, **vectors):
    """Raise ``ValueError`` unless ``x`` is (..., d) and every named vector has shape (d,)."""
    if np.ndim(x) == 0:
        raise ValueError("x must have shape (..., d) with at least one axis: got a scalar")
    d = x.shape[-1]
    for name, vector in vectors.items():
        if np.shape(vector) != (d,):
            raise ValueError(
                f"{name} must have shape (d,) = ({d},), the width of x: got {np.shape(vector)}"
            )


def require_eps(eps):
    """Raise ``ValueError`` unless ``eps`` is zero or more."""
    if not eps >= 0:
        raise ValueError(f"eps must be zero or more: got {eps}")


def require_shape(name, array, shape):
    """Raise ``ValueError`` unless the array has exactly this shape."""
    if np.shape(array) != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}: got {np.shape(array)}")


def require_ids(name, ids, V):
    """Raise ``ValueError`` unless the ids are integers from 0 up to, not including, V."""
    ids = np.asarray(ids)
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{name} must be integers: got {ids.dtype}")
    if ids.size and not 0 <= ids.min() <= ids.max() < V:
        raise ValueError(
            f"{name} must lie in the vocabulary, 0 to V-1 = {V - 1}: got {ids.min()} to {ids.max()}"
        )


def require_axes(name, array, *letters):
    """Raise ``ValueError`` unless the array has at least the named last axes."""
    if np.ndim(array) < len(letters):
        raise ValueError(
            f"{name} must have shape (..., {', '.join(letters)}): got {np.shape(array)}"
        )


def require_weights(params, d, **axes):
    """Raise ``ValueError`` unless every named weight is there and its axes fit the others.

    ``W_gate=("d", "h")`` names the axes of a weight: a letter that is new takes its size there,
    one that was met before must have it again. Return the sizes by letter.
    """
    sizes = {"d": d}
    for name, letters in axes.items():
        if name not in params:
            raise ValueError(f"params must hold {', '.join(axes)}: {name} is missing")
        shape = np.shape(params[name])
        if len(shape) == len(letters):
            wanted = tuple(map(sizes.setdefault, letters, shape))
        else:
            wanted = tuple(sizes.get(letter, letter) for letter in letters)
        if shape != wanted:
            raise ValueError(
                f"{name} must have shape {_written(letters)} = {_written(wanted)}: got {shape}"
            )
    return sizes


def require_heads(x, params, n_heads):
    """Raise ``ValueError`` unless the four weights of attention fit; return H_kv."""
    require_axes("x", x, "T", "d")
    sizes = require_weights(
        params,
        x.shape[-1],
        W_q=("d", "H·K"),
        W_k=("d", "H_kv·K"),
        W_v=("d", "H_kv·K"),
        W_o=("H·K", "d"),
    )
    width, kv_width = sizes["H·K"], sizes["H_kv·K"]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads must divide the width of W_q: got {width}, n_heads={n_heads}")
    K = width // n_heads
    if kv_width % K or n_heads % (kv_width // K):
        raise ValueError(
            f"W_k must hold heads of K={K} columns, a divisor of n_heads={n_heads} of them: "
            f"got {kv_width} columns"
        )
    return kv_width // K


def require_gpt2_weights(x, params, n_heads):
    """Raise ``ValueError`` unless the sixteen weights of a GPT-2 block fit."""
    require_heads(x, params, n_heads)
    norms = ("attn_norm", "attn_norm_bias", "ffn_norm", "ffn_norm_bias")
    require_weights(params, x.shape[-1], **dict.fromkeys(norms, ("d",)))
    require_weights(params, x.shape[-1], W_1=("d", "h"), W_2=("h", "d"), b_1=("h",), b_2=("d",))
    for name in "qkvo":
        matrix = f"W_{name}"
        rows = len(params[matrix])
        require_weights(params, rows, **{matrix: ("d", "width"), f"b_{name}": ("width",)})


def require_columns(W, n_heads):
    """Raise ``ValueError`` unless the columns of a matrix make heads of an even width."""
    if np.ndim(W) != 2 or n_heads < 1 or W.shape[1] % (2 * n_heads):
        raise ValueError(
            f"W must have n_heads={n_heads} heads of an even width in its columns: "
            f"got shape {np.shape(W)}"
        )


def _written(axes):
    """Write axes as a shape, letters without quotation marks."""
    return f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"


def require_context(T, context):
    """Raise ``ValueError`` if T tokens are more than a model was made for."""
    if context is not None and T > context:
        raise ValueError(f"T must be at most the model's context of {context} tokens: got T={T}")


def require_number(name, result):
    """Raise ``ValueError`` unless a result is one number; return it as a float."""
    number = np.asarray(result, dtype=np.float64)
    if number.size != 1:
        raise ValueError(f"{name} must return one number: got an array of shape {number.shape}")
    return number.item()
