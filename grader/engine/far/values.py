"""Values on the wire: plain data by value, everything else as a handle that its owner keeps.

Each side owns objects that the other one only names. What comes back under its name is the very
object that went out.
"""

import contextlib
import dataclasses
import importlib
import math
import pkgutil

import numpy as np

from grader.engine.far.wire import Garbled, TooMuch

DEEPEST = 40
MOST_NODES = 200_000
MOST_DIGITS = 4000
LONGEST_NAME = 200
ALIGNMENT = 16
PLAIN = (bool, float, str, type(None))
KINDS = "?bhilqBHILQefdgFD"  # the type codes of the numbers of NumPy that may cross
DTYPES = {np.dtype(order + kind).str: np.dtype(order + kind) for kind in KINDS for order in "<>"}
NAMED_TYPES = {kind.__name__: kind for kind in (bool, int, float, complex, str, list, tuple, dict)}
PACKAGE = "transformer_block"  # its dataclasses cross as themselves


class Owned:
    """Objects that this side keeps for the other, by number."""

    def __init__(self):
        self.objects = []
        self.numbers = {}
        self.since = 0  # the number from which on objects are held still
        self.texts_of = lambda thing: None  # the source of what may run on the other side

    def number(self, thing):
        """Return the number of an object; the same object has one number."""
        key = id(thing)
        if key not in self.numbers:
            self.numbers[key] = len(self.objects)
            self.objects.append(thing)
        return self.numbers[key]

    def __getitem__(self, number):
        """Return the object of this number."""
        if type(number) is not int or not self.since <= number < len(self.objects):
            raise Garbled("no such object")
        return self.objects[number]

    def holds(self, thing):
        """Tell whether the other side may name this object."""
        return any(thing is one for one in self.objects[self.since :])

    def let_go(self):
        """Hold nothing of what went out: the numbers that the other side kept are void."""
        self.numbers.clear()
        self.since = len(self.objects)


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
        if kind is np.random.Generator and type(value.bit_generator) is np.random.PCG64:
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


def is_ours(kind):
    """Tell whether a class is one of the course's own dataclasses."""
    return dataclasses.is_dataclass(kind) and kind.__module__.partition(".")[0] == PACKAGE


class Decoder:
    """Turn a tree and its bytes back into values.

    Parameters
    ----------
    owned : Owned
        What this side keeps for the other.
    stand_in : callable
        Makes what stands for an object of the other side, from its number, its description
        and its value in plain data if it has one.
    data : bytearray
        The bytes of arrays.
    """

    def __init__(self, owned, stand_in, data):
        self.owned = owned
        self.stand_in = stand_in
        self.data = data
        self.nodes = 0

    def __call__(self, tree, depth=0):
        """Return the value of a tree; `Garbled` if it is none."""
        self.nodes += 1
        if depth > DEEPEST + 2 or self.nodes > 2 * MOST_NODES:
            raise Garbled("nested too deeply or too many parts")
        if isinstance(tree, PLAIN) or type(tree) is int:
            return tree
        if not isinstance(tree, dict) or not isinstance(tree.get("t"), str):
            raise Garbled("no value")
        reader = getattr(self, "_read_" + tree["t"].replace(" ", "_"), None)
        if reader is None:
            raise Garbled("no value of a known kind")
        try:
            return reader(tree, depth)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as trouble:
            raise Garbled(f"a broken {tree['t']}") from trouble

    def _list(self, tree, depth):
        if not isinstance(tree["v"], list):
            raise Garbled("no list")
        return [self(item, depth + 1) for item in tree["v"]]

    def _read_list(self, tree, depth):
        return self._list(tree, depth)

    def _read_tuple(self, tree, depth):
        return tuple(self._list(tree, depth))

    def _read_set(self, tree, depth):
        return {item for item in self._list(tree, depth)}  # noqa: C416 (a loop can be interrupted)

    def _read_frozenset(self, tree, depth):
        return frozenset(self._list(tree, depth))

    def _read_dict(self, tree, depth):
        return {self(k, depth + 1): self(v, depth + 1) for k, v in tree["v"]}

    def _read_plain(self, tree, depth):
        """Read an array whose numbers stand in the order of its axes; it may be written to."""
        dtype, shape, data = _dtype(tree["d"]), _shape(tree["s"]), self._bytes(tree)
        if math.prod(shape) * dtype.itemsize != len(data):
            raise Garbled("an array of another size")
        return np.ndarray(shape, dtype, data)

    def _read_array(self, tree, depth):
        dtype, shape, order = _dtype(tree["d"]), _shape(tree["s"]), tree["o"]
        data = self._bytes(tree)
        flat = np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)
        if sorted(order) != list(range(len(shape))) or flat.size != math.prod(shape):
            raise Garbled("an array of another size")
        turned = flat.reshape(shape)
        if tree["g"] and shape:
            turned = _with_gaps(turned)
        array = turned.transpose(np.argsort(order))
        array.flags.writeable = tree["w"] is True
        return array

    def _read_scalar(self, tree, depth):
        return np.frombuffer(self._bytes(tree), _dtype(tree["d"]))[0]

    def _read_bytes(self, tree, depth):
        return bytes(self._bytes(tree))

    def _read_complex(self, tree, depth):
        return complex(*map(float, tree["v"]))

    def _read_slice(self, tree, depth):
        return slice(*(self(part, depth + 1) for part in tree["v"]))

    def _read_range(self, tree, depth):
        return range(*tree["v"])

    def _read_ellipsis(self, tree, depth):
        return Ellipsis

    def _read_dtype(self, tree, depth):
        return _dtype(tree["v"])

    def _read_numpy_type(self, tree, depth):
        return _dtype(tree["v"]).type

    def _read_type(self, tree, depth):
        return NAMED_TYPES[tree["v"]]

    def _read_rng(self, tree, depth):
        generator = np.random.PCG64(0)
        generator.state = self(tree["v"], depth + 1)
        return np.random.Generator(generator)

    def _read_record(self, tree, depth):
        module, _, name = tree["c"].rpartition(".")
        if module.partition(".")[0] != PACKAGE or module not in _modules():
            raise Garbled("no class of the course")
        kind = getattr(importlib.import_module(module), name)
        if not (isinstance(kind, type) and is_ours(kind)):
            raise Garbled("no class of the course")
        return kind(**self(tree["v"], depth + 1))

    def _read_mine(self, tree, depth):
        number = tree["n"]
        if type(number) is not int or number < 0:
            raise Garbled("no number")
        facts = {"kind": _name(tree["k"]), "name": _name(tree["f"]), "callable": tree["c"] is True}
        facts["texts"] = tree.get("x")
        value = self(tree["v"], depth + 1) if "v" in tree else None
        return self.stand_in(number, facts, value)

    def _read_yours(self, tree, depth):
        return self.owned[tree["n"]]

    def _bytes(self, tree):
        start, size = tree["n"]
        if type(start) is not int or type(size) is not int:
            raise Garbled("no place")
        if start < 0 or size < 0 or start + size > len(self.data):
            raise Garbled("bytes that did not come")
        return memoryview(self.data)[start : start + size]


def _modules():
    """Names of the course's modules that are there without running anything new."""
    package = importlib.import_module(PACKAGE)
    return {f"{PACKAGE}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}


def _dtype(text):
    if not isinstance(text, str) or text not in DTYPES:
        raise Garbled("no dtype of numbers")
    return DTYPES[text]


def _shape(axes):
    if len(axes) > 32 or any(type(axis) is not int or axis < 0 for axis in axes):
        raise Garbled("no shape")
    return tuple(axes)


def _with_gaps(array):
    """Copy an array into every second place of a larger one."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _name(text):
    if not isinstance(text, str) or len(text) > LONGEST_NAME:
        raise Garbled("no name")
    return text


def copy_into(old, new):
    """Make a mutable value equal to another in place; tell whether that could be done."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        if old.shape == new.shape and old.dtype == new.dtype and old.flags.writeable:
            old[...] = new
            return True
        return False
    if isinstance(old, np.random.Generator) and isinstance(new, np.random.Generator):
        old.bit_generator.state = new.bit_generator.state
        return True
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for a, b in zip(old, new, strict=True):
            with contextlib.suppress(ValueError, TypeError):
                copy_into(a, b)
        return True
    if type(old) is list and type(new) is list:
        old[:] = [_merged(old, new, i) for i in range(len(new))]
        return True
    if type(old) is dict and type(new) is dict:
        merged = {key: _merged(old, new, key) for key in new}
        old.clear()
        old.update(merged)
        return True
    return False


def _merged(old, new, key):
    """Keep the old object under a key where the new value can be copied into it."""
    try:
        there = old[key]
    except (IndexError, KeyError):
        return new[key]
    return there if copy_into(there, new[key]) else new[key]
