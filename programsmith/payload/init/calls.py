"""System calls and constants of the Python init, and its status pipe."""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from typing import Any, NoReturn

ONE_CPU, COLLECT, WATCH, EXEC_WORK, WORKSPACE, FENCE_EXEC, FENCE_FILES = 1, 2, 4, 8, 16, 32, 64
TURN_CLOCK, KEEP_TMP = 128, 256
MAY_EXECUTE, MAY_READ, MAY_WRITE, SCRIPTS = 1, 2, 4, 8
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 1 << 18
MS_RDONLY, REMOUNTED = 1, 0x1020  # a mount's own flags, changed
MNT_DETACH, CLONE_NEWNS = 2, 0x20000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 4, 22, 23, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_VERSION = 2, 19, 0x20080522
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
CAPSET = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
libc = ctypes.CDLL(None, use_errno=True)


class Status:
    """The status pipe."""

    fd = -1

    @classmethod
    def say(cls, tag: bytes, payload: bytes = b"") -> None:
        """Write one record."""
        rest = memoryview(tag + struct.pack("<Q", len(payload)) + payload)
        while rest:
            rest = rest[os.write(cls.fd, rest) :]


def fail(step: str, error: OSError) -> NoReturn:
    """A fault of ours: say which step failed and end."""
    Status.say(b"F", f"{step}: {error.strerror}".encode())
    os._exit(1)


def call(step: str, result: int) -> int:
    """Check the result of a C call."""
    if result < 0:
        number = ctypes.get_errno()
        fail(step, OSError(number, os.strerror(number)))
    return result


def system(*arguments: Any) -> int:
    """A system call by number."""
    return int(libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))


def mount(what: bytes, source: bytes | None, target: bytes | None, flags: int, options: bytes | None) -> int:
    """Mount; `what` is the file system, empty for binds and propagation."""
    return int(libc.mount(source, target, what or None, ctypes.c_ulong(flags), options))
