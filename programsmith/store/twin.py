"""A file under two names, so that the removal of either loses nothing of it.

In: two paths on one file system. Out: both name one file, made where there was none. Where they name two files, as
after a copy of the folders, the second one's lines that the first lacks are added to the first, which is then both.
Where the file system has no second names, the first is left alone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import uuid
from pathlib import Path

ONE_NAME_ONLY = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK, errno.ENOSYS})


def twinned(path: Path, twin: Path) -> None:
    """Let both paths name one file. Raises OSError."""
    for place in (path, twin):
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        _link(twin, path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666))
        _link(path, twin)
        if not os.path.samefile(path, twin):
            _join(path, twin)
    except OSError as fault:
        if fault.errno not in ONE_NAME_ONLY:
            raise


def _link(there: Path, absent: Path) -> None:
    """Give the file `there` the name `absent`, durably; nothing where the one is not or the other is."""
    with contextlib.suppress(FileNotFoundError, FileExistsError):
        os.link(there, absent, follow_symlinks=False)
        _sync_folder(absent.parent)


def _join(path: Path, twin: Path) -> None:
    with path.open("ab+") as own:
        fcntl.flock(own, fcntl.LOCK_EX)
        if os.path.samefile(path, twin):
            return
        own.seek(0)
        said = own.read()
        whole = said[: said.rfind(b"\n") + 1]  # a line that nobody ended was not written
        own.truncate(len(whole))
        known = set(whole.splitlines())
        lines = twin.read_bytes().splitlines(keepends=True)
        own.writelines(line for line in lines if line.endswith(b"\n") and line.rstrip(b"\n") not in known)
        own.flush()
        os.fsync(own.fileno())
        draft = twin.with_name(f".{twin.name}.{uuid.uuid4().hex}.part")
        os.link(path, draft, follow_symlinks=False)
        os.replace(draft, twin)
        _sync_folder(twin.parent)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
