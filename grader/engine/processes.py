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


def hold_crowd(processes):
    """Keep a crowd to one processor: it would take the time of those that are marked beside it."""
    import psutil

    threads = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            threads += [thread.id for thread in process.threads()]
    if len(threads) > FEW and sys.platform == "linux":
        last = max(os.sched_getaffinity(0))
        for thread in threads:
            with contextlib.suppress(OSError):  # it has ended
                os.sched_setaffinity(thread, {last})
