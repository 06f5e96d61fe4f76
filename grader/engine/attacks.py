"""What a student's code might try, as code: each attempt prints REACHED where it got through."""

from dataclasses import dataclass

REACHED = "REACHED"
_CALL = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
"""


@dataclass(frozen=True)
class Attack:
    """One attempt.

    Parameters
    ----------
    what : str
        What the walls must keep code from, for people.
    code : str
        Prints ``REACHED`` if it got through.
    before : str
        Run in the notebook before; its process must have ended by then.
    """

    what: str
    code: str
    before: str = ""


def attacks(facts):
    """Return every attempt.

    Parameters
    ----------
    facts : dict
        What an attacker might know: ``files`` that the instructor can read, ``folder``, ``pid``
        and ``port`` of a process outside, name of a ``secret`` in its environment, bounds.
    """
    files, folder, pid = facts["files"], facts["folder"], facts["pid"]
    return [
        Attack("read the instructor's files", _any(f"open({file!r}).read(1)" for file in files)),
        Attack("list the course folder", _any([f"__import__('os').listdir({folder!r})"])),
        Attack(
            "read the instructor's environment",
            f"import os\nif {facts['secret']!r} in str(os.environ): print('{REACHED}')\n"
            + _any([f"{facts['secret']!r} in open('/proc/{pid}/environ').read() or 1 / 0"]),
        ),
        Attack("write outside its scratch folder", _any(_writes(folder))),
        Attack(
            "reach the network",
            _any([f"__import__('socket').create_connection(('127.0.0.1', {facts['port']}), 2)"]),
        ),
        Attack(
            "reach another program's socket",
            _any(
                [
                    "(lambda s: s.connect('\\0' + "
                    f"{facts['name']!r}))(__import__('socket').socket(1))"
                ]
            ),
        ),
        Attack(
            "see or signal other processes",
            _any([f"__import__('os').kill({pid}, 0)", f"open('/proc/{pid}/status').read()"]),
        ),
        Attack(
            "reach the process it was forked from",
            "import os\nif os.getppid() > 0:\n"
            + _indented(_any(["os.kill(os.getppid(), 0)", "open(f'/proc/{os.getppid()}/mem')"])),
        ),
        Attack(
            "become root or make a user namespace",
            _any(["__import__('os').setuid(0)"])
            + _CALL
            + f"if libc.unshare(0x10000000) == 0: print('{REACHED}')",
        ),
        Attack(
            "mount, trace, or load programs into the kernel",
            _CALL + f"if 0 in (libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), "
            f"libc.ptrace(0, 0, 0, 0)) or libc.syscall(321, 0, 0, 0) >= 0: print('{REACHED}')",
        ),
        Attack("import the checks and their answers", _any(["__import__('grader.checks').checks"])),
        Attack(
            f"start more than {facts['processes']} processes",
            f"import os, time\nfor n in range({facts['processes'] + 5}):\n"
            "    if os.fork() == 0:\n        time.sleep(60); os._exit(0)\n" + f"print('{REACHED}')",
        ),
        Attack(
            f"take more than {facts['memory']} MiB",
            _any([f"len(bytearray({facts['memory'] + 64} << 20))"]),
        ),
        Attack(
            f"fill the disk beyond {facts['file']} MiB",
            "import os\nfor n in range(4):\n"
            f"    open(f'f{{n}}', 'wb').write(bytes({facts['file'] // 2 + 1} << 20))\n"
            f"print('{REACHED}')",
        ),
        Attack(
            "leave a file for the next student",
            f"import os, glob\nif glob.glob('/tmp/**/left', recursive=True) or "
            f"os.path.exists('/dev/shm/left'): print('{REACHED}')",
            before="open('/dev/shm/left', 'w'); open('left', 'w'); open('/tmp/left', 'w')",
        ),
        Attack(
            "leave a process for the next student",
            "import os, time\ntime.sleep(0.5)\n"
            f"if os.path.exists('/tmp/alive') or os.path.exists('alive'): print('{REACHED}')",
            before="import os, time\nif os.fork() == 0:\n    os.setsid()\n    for n in range(50):\n"
            "        time.sleep(0.1); open('/tmp/alive', 'w')\n    os._exit(0)",
        ),
    ]


def _writes(folder):
    places = ("/sandbox/x", "/usr/x", "/cache/x", f"{folder}/x")
    return [f"open({place!r}, 'w').close()" for place in places]


def _any(attempts):
    """Try expressions one after the other; each that works has got through."""
    lines = []
    for attempt in attempts:
        lines += ["try:", f"    {attempt}", "except Exception: pass", f"else: print('{REACHED}')"]
    return "\n".join(lines) + "\n"


def _indented(code):
    return "".join(f"    {line}\n" for line in code.splitlines())
