"""Values on the wire: plain data by value, everything else as a handle that its owner keeps.

Each side owns objects that the other one only names. What comes back under its name is the very
object that went out. `encoding` makes trees and bytes of values, `decoding` values of those.
"""

import dataclasses

import numpy as np

from grader.engine.far.wire import Garbled

DEEPEST = 40
MOST_NODES = 200_000
LONGEST_NAME = 200
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


def is_ours(kind):
    """Tell whether a class is one of the course's own dataclasses."""
    return dataclasses.is_dataclass(kind) and kind.__module__.partition(".")[0] == PACKAGE
