"""Memory and threads for the fast block: pieces cut into arrays, halves done at once."""

import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

KEPT = 4  # pieces that are kept for the next call
MANY = 1 << 18  # entries that are worth a second thread, which takes 0.1 ms to start


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
    arrays, start = [], 0
    for shape in shapes:
        stop = start + math.prod(shape)
        arrays.append(piece[start:stop].reshape(shape))
        start = stop
    return arrays


def rows_of(x):
    """View an array as one row a token, whatever its leading axes."""
    return x.reshape(-1, x.shape[-1])


def in_two(work, n, entries):
    """Let work do the first half and the second half of n, at once if there is much to do.

    NumPy lets other threads run while it computes; a browser has no threads.
    """
    if entries < MANY or sys.platform == "emscripten":
        work(slice(0, n))
        return
    with ThreadPoolExecutor(max_workers=1) as other:
        second = other.submit(work, slice(n // 2, n))
        work(slice(0, n // 2))
        second.result()
