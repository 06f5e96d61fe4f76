"""Memory for the fast block: pieces that are cut into arrays, and used again."""

import math
import sys
import threading
from functools import lru_cache
from itertools import accumulate

import numpy as np

KEPT = 4  # pieces that are kept for the next call


def size_of(shapes):
    """Count the entries of arrays of these shapes."""
    return sum(math.prod(shape) for shape in shapes)


class Pieces:
    """Memory that is used again as soon as nobody holds an array of it.

    The system clears every page that it hands out, which costs as much as a few passes over the
    arrays. A piece that was used before need not be cleared. Each array cut from a piece holds a
    reference to it: while one is alive, anywhere, the piece is not handed out again.
    """

    def __init__(self):
        self.pieces = []  # the newest last
        self.lock = threading.Lock()
        self.unheld = self._count_unheld()

    def take(self, size, dtype):
        """Return a piece of so many entries, whose values are arbitrary."""
        with self.lock:
            for index in range(len(self.pieces)):
                if self._fits(index, size, dtype) and self._holders(index) == self.unheld:
                    return self.pieces[index]
            self.pieces.append(np.empty(size, dtype))
            del self.pieces[:-KEPT]
            return self.pieces[-1]

    def _count_unheld(self):
        """Find what counting gives for a piece that only we hold."""
        self.pieces.append(np.empty(0))
        try:
            return self._holders(0)
        finally:
            self.pieces.clear()

    def _fits(self, index, size, dtype):
        """Compare a piece with what is wanted."""
        return (self.pieces[index].size, self.pieces[index].dtype) == (size, dtype)

    def _holders(self, index):
        """Count the references to a piece."""
        return sys.getrefcount(self.pieces[index])


PIECES = Pieces()


def carve(shapes, dtype):
    """Cut arrays of these shapes, whose values are arbitrary, from one piece of memory."""
    return cut(PIECES.take(size_of(shapes), dtype), shapes)


def cut(piece, shapes):
    """Cut a piece of memory into arrays of these shapes, from its start."""
    return [piece[place].reshape(shape) for place, shape in _places(tuple(shapes))]


@lru_cache(64)
def _places(shapes):
    """Pair each shape with the slice of a piece that it takes."""
    stops = list(accumulate(map(math.prod, shapes)))
    places = map(slice, [0, *stops], stops)
    return tuple(zip(places, shapes, strict=True))


def rows_of(x):
    """View an array as one row a token, whatever its leading axes."""
    return x.reshape(-1, x.shape[-1])
