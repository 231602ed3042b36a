"""What this host lets a launcher rely on: who reaches a path, how the kernel counts processes."""

from __future__ import annotations

import contextlib
import math
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import cache

from programsmith.payload.verifier.launcher import LauncherError

_LOOK = 0.05  # seconds
_SEPARATE_COUNTS = (5, 14)  # kernels from here on count processes per user namespace


def require_readable(path: str) -> None:
    """Raise LauncherError where a user that owns nothing may not read `path`, OSError where it does not exist."""
    if not os.stat(path).st_mode & 0o004:
        raise LauncherError(
            f"{path}: not readable by others; wanted a tree that an ordinary user may read (chmod a+rX)"
        )


def crossable(path: str) -> bool:
    """Whether a user that owns nothing reaches `path`, which it may read. Raises OSError, LauncherError."""
    require_readable(path)
    at = os.path.realpath(path)
    while at != "/":
        at = os.path.dirname(at)
        if not os.stat(at).st_mode & 0o001:
            return False
    return True


@cache
def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()))


def pids_bind(*, root: bool) -> bool:
    """Whether the process limit counts one sandbox alone."""
    return root or _kernel() >= _SEPARATE_COUNTS


def counted_before(*, root: bool) -> int:
    """Processes of the launching user that an older kernel counts into the limit."""
    if _kernel() >= _SEPARATE_COUNTS:
        return 0
    if root:
        return 1
    uid = os.getuid()
    return sum(1 for name in os.listdir("/proc") if name.isdigit() and _owner(f"/proc/{name}") == uid)


def _owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None


Ends = tuple[int, int, int, int]
"""Of the pipes of a launch: stdin, stdout, stderr, status."""


def pipes() -> tuple[Ends, Ends]:
    """New pipes of a launch: our ends, and theirs."""
    stdin, stdout, stderr, status = (os.pipe() for _ in range(4))
    return (stdin[1], stdout[0], stderr[0], status[0]), (stdin[0], stdout[1], stderr[1], status[1])


def children(pid: int) -> list[int]:
    """Processes that `pid` started; empty where it is gone or the kernel does not list them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as found:
            return [int(word) for word in found.read().split()]
    except OSError:
        return []


def has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait up to `seconds` for a child, woken at once where the kernel has pidfds; whether it ended and was reaped."""
    try:
        watched = os.pidfd_open(process.pid)
    except OSError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None
    try:
        is_readable(watched, seconds)
    finally:
        os.close(watched)
    return process.poll() is not None


def falls_silent(pipe: int, seconds: float, rest: bytearray) -> bool:
    """Read a pipe to its end onto `rest`; whether nobody holds its other end any more. Waits up to `seconds`."""
    deadline = time.monotonic() + seconds
    while is_readable(pipe, deadline - time.monotonic()):
        part = os.read(pipe, 1 << 16)
        if not part:
            return True
        rest += part
    return False


@contextlib.contextmanager
def read_on(pipe: int, rest: bytearray | None) -> Iterator[None]:
    """Read a pipe meanwhile, onto `rest` if there is one: who writes to it would wait for that, and never end.

    Where a storm of processes leaves no thread for it, they are ended without.
    """
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            if is_readable(pipe, _LOOK):
                part = os.read(pipe, 1 << 16)
                if not part:
                    return
                if rest is not None:
                    rest.extend(part)

    reader = threading.Thread(target=read)
    with contextlib.suppress(RuntimeError):
        reader.start()
    try:
        yield
    finally:
        over.set()
        if reader.ident is not None:
            reader.join()


def is_readable(fd: int, seconds: float) -> bool:
    """Wait up to `seconds` until a descriptor, however high its number, has something to read or has ended."""
    watch = select.poll()
    watch.register(fd, select.POLLIN)
    return bool(watch.poll(math.ceil(max(seconds, 0) * 1000)))
