"""Values to a tree and parts: what leaves one side for the other."""

import dataclasses

import numpy as np
from numpy.random import PCG64, Generator

from grader.engine.far.values import (
    DEEPEST,
    KINDS,
    LONGEST_NAME,
    MOST_NODES,
    NAMED_TYPES,
    PLAIN,
    is_ours,
)
from grader.engine.far.wire import TooMuch

MOST_DIGITS = 4000
ALIGNMENT = 16


class Encoder:
    """Turn values into a tree and parts.

    Parameters
    ----------
    owned : Owned
        Keeps what cannot cross.
    """

    def __init__(self, owned):
        self.owned = owned
        self.parts = []
        self.size = 0
        self.nodes = 0

    def encode(self, value, depth=0):
        """Return the tree of one value."""
        self.nodes += 1
        if depth > DEEPEST or self.nodes > MOST_NODES:
            raise TooMuch("nested too deeply or too many parts")
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is int:
            return value if value.bit_length() < 3 * MOST_DIGITS else self._kept(value)
        if kind in (list, tuple, set, frozenset):
            return self._items(kind.__name__, value, depth)
        if kind is dict:
            return self._dict(value, depth)
        return self._other(value, kind, depth)

    def _other(self, value, kind, depth):
        if isinstance(value, np.ndarray):
            return self._array(value) if value.dtype.char in KINDS else self._kept(value)
        if isinstance(value, np.generic) and value.dtype.char in KINDS:
            return {"t": "scalar", "d": value.dtype.str, "n": self._part(value.tobytes())}
        if kind is bytes:
            return {"t": "bytes", "n": self._part(value)}
        if kind is complex:
            return {"t": "complex", "v": [value.real, value.imag]}
        if kind is slice:
            parts = [value.start, value.stop, value.step]
            return {"t": "slice", "v": [self.encode(part, depth + 1) for part in parts]}
        if kind is range:
            return {"t": "range", "v": [value.start, value.stop, value.step]}
        if value is Ellipsis:
            return {"t": "ellipsis"}
        return self._named(value, kind, depth)

    def _named(self, value, kind, depth):
        """Encode what has a name on both sides, and what must be kept."""
        if isinstance(value, np.dtype) and value.char in KINDS:
            return {"t": "dtype", "v": value.str}
        if isinstance(value, type):
            if issubclass(value, np.generic) and np.dtype(value).char in KINDS:
                return {"t": "numpy type", "v": np.dtype(value).str}
            if NAMED_TYPES.get(value.__name__) is value:
                return {"t": "type", "v": value.__name__}
        if kind is Generator and type(value.bit_generator) is PCG64:
            return {"t": "rng", "v": self.encode(value.bit_generator.state, depth + 1)}
        if is_ours(kind):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            dotted = f"{kind.__module__}.{kind.__name__}"
            return {"t": "record", "c": dotted, "v": self._dict(fields, depth)}
        theirs = getattr(value, "number_there", None) if hasattr(kind, "is_far") else None
        return self._kept(value, depth) if theirs is None else {"t": "yours", "n": theirs}

    def _items(self, kind, items, depth):
        return {"t": kind, "v": [self.encode(item, depth + 1) for item in items]}

    def _dict(self, value, depth):
        depth += 1
        encode = self.encode
        return {
            "t": "dict",
            "v": [[encode(k, depth), encode(v, depth)] for k, v in dict.items(value)],
        }

    def _array(self, array):
        """Encode an array with the layout that it has: order of axes, gaps, whether writable."""
        plain = np.asarray(array).view(np.ndarray)
        flags = plain.flags
        if flags.c_contiguous and flags.writeable:
            place = self._part(plain.tobytes())
            return {"t": "plain", "d": plain.dtype.str, "s": list(plain.shape), "n": place}
        order = sorted(range(plain.ndim), key=lambda axis: -abs(plain.strides[axis]))
        turned = plain.transpose(order)
        facts = {"t": "array", "d": plain.dtype.str, "s": list(turned.shape), "o": order}
        facts["g"] = not turned.flags.c_contiguous
        facts["w"] = bool(plain.flags.writeable)
        return facts | {"n": self._part(turned.tobytes())}

    def _part(self, data):
        """Add raw bytes; return where they start and how many they are."""
        gap = -self.size % ALIGNMENT
        start = self.size + gap
        self.parts += [bytes(gap), data] if gap else [data]
        self.size = start + len(data)
        return [start, len(data)]

    def _kept(self, value, depth=0):
        """Keep a value here; what a tuple, list or dict of another class holds crosses too."""
        kind = type(value)
        tree = {
            "t": "mine",
            "n": self.owned.number(value),
            "k": kind.__name__[:LONGEST_NAME],
            "f": str(getattr(value, "__name__", kind.__name__))[:LONGEST_NAME],
            "c": callable(value),
        }
        texts = self.owned.texts_of(value)
        if texts:
            tree["x"] = texts
        for plain in (tuple, list, dict, float, int, str):
            if isinstance(value, plain) and kind is not plain:
                tree["v"] = self.encode(plain(value), depth + 1)
                break
        return tree
