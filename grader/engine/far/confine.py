"""Walls round one submission: namespaces, empty mounts, another user, limits, fewer system calls.

Called in a fork of the warm server, in this order: `leave`, then `give_up`. What this file takes
away cannot be got back by the code that runs afterwards.
"""

import contextlib
import ctypes
import ctypes.util
import os
import resource
from pathlib import Path

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
NEWUSER, NOBODY = 0x10000000, 65534
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 4, 24, 38
LAST_CAPABILITY = 63
CAPABILITY_VERSION = 0x20080522
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
NO_SUCH_CALL = 0x00050026  # with ENOSYS, which makes the C library ask in the older way
EQUAL, GREATER, MASKED_EQUAL = 4, 6, 7
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: sockets of a network that has no way out
REFUSED = """
unshare setns mount umount2 pivot_root chroot ptrace process_vm_readv process_vm_writev
bpf perf_event_open keyctl add_key request_key userfaultfd io_uring_setup io_uring_enter
io_uring_register kexec_load kexec_file_load init_module finit_module delete_module
open_by_handle_at name_to_handle_at fsopen fsmount fsconfig fspick move_mount open_tree
mount_setattr quotactl acct swapon swapoff reboot syslog personality pidfd_getfd kcmp
memfd_create memfd_secret shmget sched_setaffinity sched_setattr
""".split()
libc = ctypes.CDLL(None, use_errno=True)


class Comparison(ctypes.Structure):
    """How libseccomp is told to look at one argument of a system call."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    )


def must(result, what):
    """Raise ``OSError`` where the C library reports a failure."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def cannot_be_watched():
    """Keep other processes of the same user from reading or tracing this one."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def own_processes():
    """Let the next fork be the first process of a world of its own; return the way back."""
    here = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    must(libc.unshare(NEWPID), "unshare")
    return here


def back_to(here):
    """Undo `own_processes` for the forks after."""
    must(libc.setns(here, NEWPID), "setns")
    os.close(here)


def leave(scratch_size, uid):
    """Take a network, message queues and mounts of one's own: scratch folders and no /proc."""
    _take_worlds(uid)
    must(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount /")
    options = f"size={scratch_size},nr_inodes=4096,mode=0777".encode()
    for place in (b"/tmp", b"/dev/shm"):
        must(libc.mount(b"none", place, b"tmpfs", MS_NOSUID | MS_NODEV, options), "mount")
    read_only = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
    must(libc.mount(None, b"/cache", None, read_only, None), "mount /cache")
    must(libc.mount(b"none", b"/proc", b"tmpfs", MS_RDONLY | MS_NOSUID, b"size=4k"), "mount /proc")
    Path("/tmp/notebook").mkdir(mode=0o777)
    if uid is not None:
        os.chown("/tmp/notebook", uid, uid)


def _take_worlds(uid):
    """Take namespaces; who cannot become another user becomes a nameless one in its own."""
    worlds = NEWNS | NEWIPC | NEWNET | NEWUTS
    if uid is not None:
        must(libc.unshare(worlds), "unshare")
        return
    here = os.geteuid(), os.getegid()
    must(libc.unshare(worlds | NEWUSER), "unshare")
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else the three files below belong to root
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {here[0]} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {here[1]} 1")
    cannot_be_watched()


def limit(limits):
    """Bound memory, processes, files and time of this process and its children."""
    mib = 1 << 20
    bounds = {
        resource.RLIMIT_AS: _size_now() + limits["memory"] * mib,
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_FSIZE: limits["file"] * mib,
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits["cpu"],
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for what, most in bounds.items():
        with contextlib.suppress(ValueError, OSError):  # lower already, or unknown to this system
            resource.setrlimit(what, (most, most))


def _size_now():
    """Return the bytes of address space in use; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def give_up(uid):
    """Become nobody: another user if we may choose, no capabilities, no way to gain any."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    libc.capset(ctypes.byref(head), ctypes.byref((ctypes.c_uint32 * 6)()))
    must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def find_seccomp():
    """Load libseccomp; ``None`` where it is not installed."""
    library = _load("libseccomp.so.2") or _load(ctypes.util.find_library("seccomp"))
    if library is None:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(Comparison),
    ]
    return library


def _load(name):
    """Load a library of C, if there is one of this name; to look for its name starts programs."""
    with contextlib.suppress(OSError):
        return ctypes.CDLL(name) if name else None


def rules_of(library):
    """List the calls that no notebook needs: they break out of walls, or take memory unseen."""
    rules = library.seccomp_init(ALLOW)
    for name in REFUSED:
        _refuse(library, rules, name)
    _refuse(library, rules, "clone3", action=NO_SUCH_CALL)
    for flag in (NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS):
        _refuse(library, rules, "clone", Comparison(0, MASKED_EQUAL, flag, flag))
    for family in set(range(max(FAMILIES))) - set(FAMILIES):
        _refuse(library, rules, "socket", Comparison(0, EQUAL, family, 0))
    _refuse(library, rules, "socket", Comparison(0, GREATER, max(FAMILIES), 0))
    return rules


def refuse_calls(library, rules):
    """Refuse the calls of `rules_of` from now on, here and in what this process starts."""
    if library.seccomp_load(rules):
        raise OSError("seccomp could not be loaded")


def _refuse(library, rules, name, *comparisons, action=REFUSE):
    """Add a rule; a call that this system does not know needs none."""
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        array = (Comparison * max(1, len(comparisons)))(*comparisons)
        if library.seccomp_rule_add_array(rules, action, number, len(comparisons), array):
            raise OSError(f"seccomp does not take the rule for {name}")
