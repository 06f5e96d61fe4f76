"""What protects on this computer: every attack is tried, and the outcome is told."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.engine.attacks import REACHED, attacks
from grader.engine.far.confine import find_seccomp
from grader.engine.jail import Jail, Lost, NoSandbox
from grader.engine.limits import Limits
from grader.engine.stage import set_stage
from grader.engine.student import Student

LIMITS = Limits(seconds=20.0, memory=1024)
SECRET = "GRADER_DOCTOR_SECRET"


def examine(folder, mode):
    """Try every attack; yield what it is and whether the walls held.

    Parameters
    ----------
    folder : Path
        A folder of the instructor's.
    mode : str
        As in `Jail`.

    Yields
    ------
    what : str
        What code must be kept from.
    held : bool
        Whether it was.
    """
    with contextlib.ExitStack() as stack:
        stage = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stage-")))
        set_stage(stage, [])
        facts = stack.enter_context(_something_to_reach(folder))
        jail = stack.enter_context(Jail(stage, LIMITS, mode=mode))
        if not _shows(jail, f"print({REACHED!r})"):
            raise NoSandbox("a notebook does not run in it")
        for attack in attacks(facts):
            yield attack.what, _holds(jail, attack)


def _holds(jail, attack):
    """Run an attack in a notebook of its own, after what goes before it in another."""
    prepared = bool(attack.before) and _shows(jail, attack.before)
    return not (_shows(jail, attack.code) or prepared)


def _shows(jail, code):
    """Tell whether code in a notebook says that it got where it wanted."""
    student = Student(jail, LIMITS)
    try:
        result = student.run(code)
        return any(REACHED in str(shown.get("text")) for shown in result["outputs"])
    except Lost:
        return False
    finally:
        student.close()


@contextlib.contextmanager
def _something_to_reach(folder):
    """Put up a server, a socket, a secret and files; yield what an attacker might know."""
    name = f"grader-doctor-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        tempfile.TemporaryDirectory(prefix="private-") as private,
    ):
        if sys.platform == "linux":
            local.bind("\0" + name)
            local.listen()
        mine = Path(private, "notes.txt")
        mine.write_text("private")
        os.environ[SECRET] = SECRET
        try:
            yield {
                "files": [str(mine), str(Path(__file__).resolve())],
                "folder": str(Path(folder).resolve()),
                "pid": os.getpid(),
                "port": server.getsockname()[1],
                "name": name,
                "secret": SECRET,
                "processes": LIMITS.processes,
                "memory": LIMITS.memory,
                "file": LIMITS.file,
            }
        finally:
            del os.environ[SECRET]


def means():
    """Say in lines what this computer has to protect with."""
    bwrap = shutil.which("bwrap")
    version = "missing: sudo apt install bubblewrap"
    if bwrap:
        run = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False)
        version = run.stdout.strip()
    user = "root; notebooks run as a user of their own" if os.getuid() == 0 else "an ordinary user"
    seccomp = "found" if find_seccomp() else "missing: sudo apt install libseccomp2"
    return [
        f"bubblewrap: {version}",
        f"libseccomp: {seccomp}",
        f"this program runs as {user}",
    ]
