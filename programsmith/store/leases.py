"""Leases: at most one process works on a key, and a process that dies holds none.

In: a folder on this machine, a key. Out: a held lease. The kernel drops it with the process (flock), so nothing has to
expire. Where the folder cannot be written there is nothing to share, and no lease. Refuses a file system that has no
locks (PrerequisiteError).
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programsmith.errors import PrerequisiteError
from programsmith.store.backend import checked

READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
REMEDY = "wanted a file system with flock, or another folder in PROGRAMSMITH_STORE"


class Leases:
    """Leases below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def lease(self, key: str) -> Iterator[None]:
        """Hold the key alone; waits for whoever holds it."""
        with locked(self.folder / checked(key)[:2] / key, fcntl.LOCK_EX, keep=False):
            yield

    @contextmanager
    def shared(self, name: str) -> Iterator[None]:
        """Hold what any number may hold while none has it alone."""
        with locked(self.folder / name, fcntl.LOCK_SH, keep=True):
            yield

    @contextmanager
    def alone(self, name: str) -> Iterator[bool]:
        """Hold what others share; waits until they let go. False where nothing can be held."""
        with locked(self.folder / name, fcntl.LOCK_EX, keep=True) as held:
            yield held


@contextmanager
def locked(path: Path, how: int, *, keep: bool) -> Iterator[bool]:
    """Lock the file `path`; it is removed afterwards unless it is to `keep`. False where none can be made."""
    handle = _locked(path, how)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            if not keep:
                path.unlink(missing_ok=True)
            os.close(handle)


def _locked(path: Path, how: int) -> int | None:
    """A descriptor that holds the lock of the file that bears the name now; None where none can be made.

    Raises BlockingIOError with LOCK_NB, PrerequisiteError where the file system has no locks.
    """
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as fault:
            if fault.errno in READ_ONLY:
                return None
            raise
        try:
            fcntl.flock(handle, how)
            if _is_at(handle, path):
                return handle
        except BaseException as fault:
            os.close(handle)
            if isinstance(fault, OSError) and fault.errno in NO_LOCKS:
                raise PrerequisiteError(f"{path} cannot be locked ({fault.strerror}): {REMEDY}") from fault
            raise
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Whether `path` still names the open file: a holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
