"""Landlock by system call: a list of what may be executed, put on the calling process for good.

It binds execution only; a kernel without Landlock leaves the process as it was, and says so. Any list forbids to move
between folders what it does not allow to be moved: this one allows all of it, where the kernel has a right for that.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_EXECUTE, _MOVE = 1, 1 << 13
_HAS_MOVE = 2  # version of Landlock
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def ruleset(executables: Iterable[str]) -> int | None:
    """A ruleset (a descriptor) that allows to execute what lies at or below the paths; None without Landlock.

    A path that does not exist allows nothing. Raises OSError.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    moves = _MOVE if libc.syscall(_CREATE, None, 0, 1) >= _HAS_MOVE else 0
    wanted = _Ruleset(_EXECUTE | moves)
    fd: int = libc.syscall(_CREATE, ctypes.byref(wanted), ctypes.sizeof(wanted), 0)
    if fd < 0:
        return None
    for path, right in (*((path, _EXECUTE) for path in executables), *([("/", moves)] if moves else ())):
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            rule = _Beneath(right, opened)
            if libc.syscall(_ADD, fd, _PATH_BENEATH, ctypes.byref(rule), 0) != 0:
                raise OSError(ctypes.get_errno(), "landlock: cannot allow execution", path)
        finally:
            os.close(opened)
    return fd


def restrict(fd: int) -> None:
    """Put the ruleset on this process and all that it starts. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.syscall(_RESTRICT, fd, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock: cannot restrict this process")
