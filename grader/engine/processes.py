"""Bounds that a process of the marking side sets for itself."""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
FEW = 4  # processes and threads of one notebook that run where they like


def die_with_parent():
    """Let the system end this process when the one that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def bound_memory(mib):
    """Let this process take so much memory and no more: sizes of values come from strangers."""
    if sys.platform == "linux":
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (now + (mib << 20), hard))


def leave_terminal():
    """Give up the terminal: no noise on it, and no Ctrl-C from it (the parent ends us)."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def sizes_below(pid):
    """Return the bytes that each process below one takes in memory, by its pid.

    Most Linux kernels list a process's children; psutil looks at every process there is.
    """
    if not Path(f"/proc/{pid}/task/{pid}/children").exists():
        return _sizes_elsewhere(pid)
    sizes, queue = {}, [pid]
    while queue:
        children = _children(queue.pop())
        sizes |= {child: size_of(child) for child in children}
        queue += children
    return sizes


def _children(pid):
    """Return the processes that each thread of a process has started, as Linux lists them."""
    found = []
    for thread in _threads(pid):
        with contextlib.suppress(OSError):
            found += (thread / "children").read_text().split()
    return list(map(int, found))


def _threads(pid):
    """Return the folders of a process's threads, whose names are their numbers."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has ended
        return []


def size_of(pid):
    """Return the bytes that a process takes in memory; 0 if it has ended or cannot be asked."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _sizes_elsewhere(pid):
    """Return what `sizes_below` does, where the system has no such lists."""
    import psutil

    sizes = {}
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                sizes[process.pid] = process.memory_info().rss
    return sizes


def hold_crowd(pids):
    """Keep a crowd to one processor: it would take the time of those that are marked beside it."""
    if sys.platform != "linux":
        return
    threads = [int(thread.name) for pid in pids for thread in _threads(pid)]
    if len(threads) > FEW:
        last = max(os.sched_getaffinity(0))
        for thread in threads:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread, {last})
