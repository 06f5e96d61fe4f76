"""Memory and threads for the fast block: pieces cut into arrays, halves done at once."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor

MANY = 1 << 18  # entries that are worth a second thread, which takes 0.1 ms to start


def size_of(shapes):
    """Count the entries of arrays of these shapes."""
    return sum(math.prod(shape) for shape in shapes)


def carve(piece, shapes):
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
