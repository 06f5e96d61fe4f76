"""The outer wall: bubblewrap round a warm server, and the way to start and end notebooks in it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.engine.far import wire
from grader.engine.far.server import CONTROL, READY, START, STOP
from grader.engine.processes import hold_crowd, size_of, sizes_below

AUTO, LIMITS = "auto", "limits"
PATIENCE = 60.0  # seconds for the warm server to be ready
OF_OURS = ("grader", "transformer_block")  # what must not be seen if it is installed
FIRST_UID = 1_200_000_000  # far from any user that a system makes
UIDS = 1_000_000


class NoSandbox(Exception):
    """The walls cannot be had on this computer; the text says why."""


class Lost(BaseException):
    """A notebook's process is gone, silent or talks nonsense; the code that waits is ended.

    Parameters
    ----------
    outcome : str
        ``"timed out"`` or ``"crashed"``.
    why : str
        In words.
    lives : bool
        Whether the process is there still, and waits for the next request.
    """

    def __init__(self, outcome, why, lives=False):
        super().__init__(why)
        self.outcome, self.why, self.lives = outcome, why, lives


class Jail:
    """A warm server behind walls; it runs one notebook at a time.

    Parameters
    ----------
    stage : Path
        Folder that `set_stage` filled.
    limits : Limits
        Bounds on a notebook.
    given : Path or None
        Folder of the files that were handed out with the sheet.
    mode : str
        ``"auto"``: behind walls, or `NoSandbox`; ``"limits"``: without walls.
    cache : Path, optional
        Folder where Matplotlib finds the list of fonts that it made before. Behind walls the warm
        server alone can write to it; without them it is not used.
    """

    def __init__(self, stage, limits, given=None, mode=AUTO, cache=None):
        self.stage, self.limits, self.given, self.mode = stage, limits, given, mode
        self.cache = cache or stage / "cache"
        self.process = self.warm = None

    def __enter__(self):
        """Start the warm server; it is ready a little later."""
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.scratch = (
            None if self.mode == AUTO else tempfile.TemporaryDirectory(prefix="notebook-")
        )
        settings = self._settings()
        words = [*self._python(), "-m", "grader.engine.far.server", json.dumps(settings)]
        if self.mode == AUTO:
            words = [*self._walls(), *words]
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment(),
            preexec_fn=lambda: os.dup2(far.fileno(), CONTROL),
            pass_fds=(CONTROL,),
            start_new_session=True,
        )
        far.close()
        self.control = near
        self.ready = False
        return self

    def __exit__(self, *trouble):
        """End the server and everything in the sandbox."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        if self.scratch is not None:
            self.scratch.cleanup()

    def start(self):
        """Start a notebook in a fresh fork, ending the one before; return the socket to it."""
        self.wait_until_ready()
        near, far = wire.pair()
        with far:
            socket.send_fds(self.control, [START], [far.fileno()])
        self.ready = False
        return near

    def stop(self):
        """End the notebook and all its processes."""
        self.wait_until_ready()
        self.control.sendall(STOP)
        self.ready = False
        self.wait_until_ready()

    def wait_until_ready(self):
        """Wait until the server waits for an order."""
        if self.ready:
            return
        self.control.settimeout(PATIENCE)
        try:
            answer = self.control.recv(16)
        except OSError:
            answer = b""
        if answer != READY:
            raise NoSandbox(self._why())
        self.ready = True
        self.warm = self.warm or _largest(self.process.pid)

    def _why(self):
        """Return the last line that the sandbox wrote before it ended."""
        self.process.kill()
        lines = self.process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"

    def memory(self):
        """Return the MiB that a notebook's processes have taken beyond what is warm already."""
        usual, below = size_of(self.warm), sizes_below(self.warm)
        hold_crowd(below)
        return sum(max(0, size - usual) for size in below.values()) >> 20

    def _settings(self):
        """Return what the server is told."""
        limits = self.limits
        other = os.getuid() == 0 and (self.mode == AUTO or _is_open_to_all())
        uid = FIRST_UID + (os.getpid() + id(self)) % UIDS if other else None
        if self.scratch is not None and other:
            os.chown(self.scratch.name, uid, uid)
        return {
            "walls": self.mode == AUTO,
            "uid": uid,
            "memory": limits.memory,
            "processes": limits.processes,
            "file": limits.file,
            "cpu": int(2 * limits.budget + 60),
            "scratch": self.scratch and self.scratch.name,
            "given": self.given and (str(self.given) if self.mode == LIMITS else "/given"),
        }

    def _python(self):
        """Return the interpreter: that of the environment, by its real path."""
        prefix = Path(sys.prefix).resolve()
        prefix = _inside(prefix) if self.mode == AUTO else prefix
        return [str(prefix / "bin" / Path(sys.executable).name), "-B", "-P", "-s"]

    def _environment(self):
        """Return the environment of the sandbox: nothing of ours."""
        return {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": "/tmp",
            "PYTHONPATH": "/sandbox" if self.mode == AUTO else str(self.stage),
            "PYTHONHASHSEED": "0",
            "MPLBACKEND": "agg",
            "MPLCONFIGDIR": "/cache" if self.mode == AUTO else str(self.stage / "cache"),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }

    def _walls(self):
        """Return the words that put bubblewrap round a command."""
        bwrap = shutil.which("bwrap")
        if bwrap is None or sys.platform != "linux":
            raise NoSandbox("bubblewrap is missing")
        words = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        words += ["--die-with-parent", "--cap-add", "ALL", "--hostname", "sandbox"]
        if os.getuid() != 0:
            words += ["--unshare-user", "--uid", "0", "--gid", "0"]
        words += ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"):
            path = Path("/", name)
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                words += ["--ro-bind", str(path), str(path)]
        words += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
        for prefix in dict.fromkeys(_prefixes()):
            for parent in reversed(_inside(prefix).parents[:-1]):
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", str(prefix), str(_inside(prefix))]
        for package in _installed():
            words += ["--tmpfs", str(_inside(package))]
        words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        words += ["--bind", str(self.cache), "/cache"]
        words += ["--ro-bind", str(self.stage), "/sandbox"]
        if self.given:
            words += ["--ro-bind", str(self.given), "/given"]
        return [*words, "--remount-ro", "/", "--chdir", "/tmp", "--"]


def _largest(pid):
    """Return the process that takes most: the server is one of those that the walls started."""
    return max([pid, *sizes_below(pid)], key=size_of)


def _prefixes():
    """Return the folders of this Python and of its packages, if they are not in /usr."""
    for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix):
        path = Path(prefix).resolve()
        if not path.is_relative_to("/usr"):
            yield path


def _inside(path):
    """Return where a folder stands in the sandbox.

    What an environment lies in is nobody's business there, and /tmp is each submission's own. The
    Python that it was made from knows its place by name and keeps it.
    """
    python = any(path.is_relative_to(place) for place in (Path(sys.base_prefix).resolve(), "/usr"))
    if python and not path.is_relative_to("/tmp"):
        return path
    return Path("/python", *path.parts[1:])


def _is_open_to_all():
    """Tell whether another user could run this Python: whether every folder above lets it in."""
    folders = [folder for prefix in _prefixes() for folder in (prefix, *prefix.parents)]
    return all(folder.stat().st_mode & 1 for folder in folders)


def _installed():
    """Return the folders of our own packages where they are installed beside the others."""
    for folder in sys.path:
        for name in OF_OURS:
            path = Path(folder, name).resolve()
            if path.is_dir() and any(path.is_relative_to(prefix) for prefix in _hidden_places()):
                yield path


def _hidden_places():
    return {*_prefixes(), Path("/usr")}
