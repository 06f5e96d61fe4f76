"""The warm server of a sandbox: it forks a process for each notebook, and ends it for certain.

Started as ``python -m grader.engine.far.server SETTINGS`` with a socket at descriptor 3.
"""

import array
import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from pathlib import Path

from grader.engine.far import confine

START, STOP, READY, FAILED = b"start", b"stop", b"ready", b"failed"
CONTROL = 3
HANDED_OUT = Path("grader", "handed_out.py")  # in the sandbox: imports what a sheet hands out
GLANCE = 0.005  # seconds between two looks for it


class Server:
    """Keeps a warm shell and at most one notebook.

    Parameters
    ----------
    settings : dict
        ``walls`` (whether namespaces can be had), ``uid`` (or none), ``scratch``, ``given``
        and the bounds that `confine.limit` takes.
    """

    def __init__(self, settings):
        from grader.engine.far.notebook import Notebook
        from grader.engine.far.shell import Shell

        self.settings, self.notebook = settings, Notebook
        self.control = socket.socket(fileno=CONTROL)
        self.child = None
        self.shell = Shell()
        self.seccomp = confine.find_seccomp() if settings["walls"] else None
        self.rules = confine.rules_of(self.seccomp) if self.seccomp else None
        self.shell.warm_up()
        _load_library(self.control)

    def serve(self):
        """Start and stop notebooks until the other side goes away."""
        gc.collect()
        gc.freeze()
        self.control.sendall(READY)
        while True:
            order, fds = _receive(self.control)
            self._stop()
            if not order:
                return
            if order == START:
                self._start(fds[0])
            self.control.sendall(READY)

    def _start(self, fd):
        """Fork a process for one notebook."""
        if self.settings["scratch"]:
            _empty(self.settings["scratch"])
        here = confine.own_processes() if self.settings["walls"] else None
        pid = os.fork()
        if pid == 0:
            try:
                self._become_notebook(fd)
            finally:
                os._exit(1)
        if here is not None:
            confine.back_to(here)
        os.close(fd)
        self.child = pid

    def _stop(self):
        """End the notebook's process and everything that it started."""
        if self.child is None:
            return
        if not self.settings["walls"]:
            _kill_group(self.child, self.settings["uid"])
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        self.child = None

    def _become_notebook(self, fd):
        """Go behind the walls, then serve the notebook."""
        os.setsid()
        fd = _keep_only(fd)
        settings = self.settings
        if settings["walls"]:
            confine.limit(settings)  # needs /proc, which is gone afterwards
            confine.leave(f"{settings['file']}m", settings["uid"])
            folder = "/tmp/notebook"
        else:
            confine.limit(settings)
            folder = settings["scratch"]
        os.chdir(folder)
        self._lay_out(folder)
        confine.give_up(settings["uid"]) if sys.platform == "linux" else None
        if self.seccomp is not None:
            confine.refuse_calls(self.seccomp, self.rules)
        os.environ.update(HOME=folder, TMPDIR=folder)
        sys.path.append(folder)
        self.notebook(socket.socket(fileno=fd), self.shell).serve_all()

    def _lay_out(self, folder):
        """Link the files that were handed out with the sheet into the notebook's folder."""
        given = self.settings["given"]
        for path in Path(given).iterdir() if given else []:
            if path.suffix != ".ipynb":
                Path(folder, path.name).symlink_to(path)


def _load_library(control):
    """Load what the sheet hands out, as soon as it is there: it is laid down while we warm up.

    Nothing is ordered before that: what comes earlier is the end of the other side.
    """
    while not Path(__file__).parents[3].joinpath(HANDED_OUT).exists():
        if select.select([control], [], [], GLANCE)[0]:
            sys.exit("nobody lays down a library")
    importlib.invalidate_caches()
    importlib.import_module("grader.handed_out")


def _empty(folder):
    """Remove what the notebook before has written."""
    for path in Path(folder).iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _keep_only(fd):
    """Close every other descriptor; standard streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.dup2(fd, 3)
    os.closerange(4, 4096)
    return 3


def _kill_group(pid, uid):
    """End a session's processes where no namespace does it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if uid is not None and os.fork() == 0:
        with contextlib.suppress(OSError):
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)  # all that this user may end: notebooks' processes
        os._exit(0)


def _receive(control):
    """Read an order, and the descriptor that may come with it."""
    data, ancillary, _, _ = control.recvmsg(16, socket.CMSG_SPACE(4))
    fds = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
    return data, list(fds)


if __name__ == "__main__":
    confine.cannot_be_watched()
    Server(json.loads(sys.argv[1])).serve()
