"""Threads for the fast block: shares of a batch, done at once."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, partial

MANY = 1 << 17  # entries that are worth a second thread, which takes 0.1 ms to start


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
    threads = _worth(n, entries)
    first, *others = (partial(_share, index, threads) for index in range(threads))
    if not others:
        return [work(first)]
    with one_thread(), ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(work, share) for share in others]
        return [work(first), *(one.result() for one in running)]


def _share(index, threads, n):
    """Cut the share of one thread from an axis of length n."""
    return slice(n * index // threads, n * (index + 1) // threads)


def _worth(n, entries):
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
