"""The stored runs of the pretrained model as the pictures show them: names, tokens, bytes."""

import numpy as np
import traitlets

TITLES = {"fact": "A fact", "repeat": "A repeat", "names": "Names", "count": "Counting"}
YOURS = "yours"


def text_of(name, tokens):
    """Describe a text to the browser."""
    return {"name": name, "title": TITLES.get(name, YOURS), "tokens": [str(t) for t in tokens]}


def array_of(name, value, n_axes):
    """Return a value as an array of finite floats with one of some numbers of axes.

    Raises
    ------
    traitlets.TraitError
        If it is none.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise traitlets.TraitError(f"{name} must be an array of numbers: got {value!r}") from None
    if array.ndim not in n_axes or not array.size:
        axes = " or ".join(map(str, n_axes))
        raise traitlets.TraitError(f"{name} must have {axes} axes, none empty: got {array.shape}")
    if not np.isfinite(array).all():
        raise traitlets.TraitError(f"{name} must be finite everywhere")
    return array


def tokens_of(tokens, T):
    """Return the texts of T tokens; numbers stand for those that are not given.

    Raises
    ------
    traitlets.TraitError
        If there are not T of them.
    """
    names = [str(token) for token in (range(T) if tokens is None else tokens)]
    if len(names) != T:
        raise traitlets.TraitError(f"tokens must be as many as the rows, {T}: got {len(names)}")
    return names


def one_of(name, value, names):
    """Return a value that is one of some names.

    Raises
    ------
    traitlets.TraitError
        If it is none of them.
    """
    if value not in names:
        raise traitlets.TraitError(f"{name} must be one of {', '.join(names)}: got {value!r}")
    return value


def within(trait, value, count):
    """Return a number of one of so many things.

    Raises
    ------
    traitlets.TraitError
        If there is no such thing.
    """
    if not 0 <= value < count:
        raise traitlets.TraitError(f"{trait.name} must be from 0 to {count - 1}: got {value}")
    return value


def packed_arrays(arrays):
    """Write arrays as bytes, one after the other.

    Returns
    -------
    listed : list
        Of each its name, its dtype and how many numbers it has.
    data : bytes
        All of them, in this order.
    """
    listed = [[name, str(array.dtype), array.size] for name, array in arrays.items()]
    return listed, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
