"""A tree and its bytes back to values: nothing that arrives is believed, run or unpickled."""

import contextlib
import importlib
import math
import pkgutil

import numpy as np

from grader.engine.far.values import (
    DEEPEST,
    DTYPES,
    LONGEST_NAME,
    MOST_NODES,
    NAMED_TYPES,
    PACKAGE,
    PLAIN,
    is_ours,
)
from grader.engine.far.wire import Garbled


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
