"""Memory and threads for the fast block: pieces cut into arrays, shares done at once."""

import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, lru_cache, partial
from itertools import accumulate

import numpy as np

KEPT = 4  # pieces that are kept for the next call
MANY = 1 << 17  # entries that are worth a second thread, which takes 0.1 ms to start


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


def weight_gradient(x, dout, share, dW):
    """Fill the shared rows of dW, the gradient of the matrix in x @ W."""
    part, dout = share(x.shape[-1]), dout.reshape(-1, dW.shape[-1])
    np.matmul(rows_of(x)[:, part].T, dout, out=dW[part])


def at_once(work, n, entries):
    """Let threads do a share of the work each, if there is much to do; return what each returns.

    Parameters
    ----------
    work : callable
        Takes ``share``, a function from the length of an axis to a slice of it.
    n : int
        The least length that is shared: each thread gets something of it.
    entries : int
        How many entries there are to work on.

    Notes
    -----
    BLAS, which has threads of its own, is held to one a share meanwhile: between two of its
    products its idle threads keep asking for work, and take half a processor from ours.
    """
    threads = _threads(n, entries)
    first, *others = (partial(_share, index, threads) for index in range(threads))
    if not others:
        return [work(first)]
    with one_thread(), ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(work, share) for share in others]
        return [work(first), *(one.result() for one in running)]


def _share(index, threads, n):
    """Cut the share of one thread from an axis of length n."""
    return slice(n * index // threads, n * (index + 1) // threads)


def _threads(n, entries):
    """Count the threads that are worth it: as many as BLAS would use, or one."""
    if entries < MANY or sys.platform == "emscripten" or _blas() is None:
        return 1
    threads = min((library["num_threads"] for library in _blas().info()), default=1)
    return threads if n >= threads else 1


def one_thread():
    """Hold BLAS to one thread while the context lasts, so that sums keep one order."""
    return _blas().limit(limits=1) if _blas() else nullcontext()


@cache
def _blas():
    """Find what tells and sets the number of BLAS's threads; without it there is no sharing."""
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController().select(user_api="blas")
