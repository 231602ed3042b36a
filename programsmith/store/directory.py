"""A store in a directory: <root>/<namespace>/<first two digits>/<name>, as remote caches lay it out too.

In: a folder, which several processes and machines may share. Out: a Backend. A killed writer leaves nothing but a
file in tmp/, which the next collection removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from programsmith.store.backend import NAME, Kept, Namespace, checked


class Directory:
    """Objects below `root`, made when something is first put."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, space: Namespace, name: str) -> bytes | None:
        """The bytes, None where no regular file has the name."""
        try:
            handle = os.open(self._path(space, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as fault:
            if fault.errno in {errno.ELOOP, errno.ENXIO, errno.ENOTDIR}:
                return None
            raise
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as body:
            return body.read()

    def put(self, space: Namespace, name: str, content: bytes) -> None:
        """Write beside, sync, rename. Equal bytes that are there are kept and count as used."""
        path = self._path(space, name)
        if self.get(space, name) == content:
            self.touch(space, name)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self.tmp.mkdir(exist_ok=True)
        handle, made = tempfile.mkstemp(dir=self.tmp)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            os.replace(made, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(made)
            raise
        _sync_folder(path.parent)

    def has(self, space: Namespace, name: str) -> bool:
        """Whether a file has the name."""
        return self._path(space, name).is_file()

    def touch(self, space: Namespace, name: str) -> None:
        """Set the file's time to now; a store that cannot be written keeps its own."""
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.utime(self._path(space, name))

    def list(self, space: Namespace) -> Iterator[Kept]:
        """All files that bear an object's name where such an object lies."""
        for folder in sorted((self.root / space).glob("[0-9a-f][0-9a-f]")):
            for entry in sorted(os.scandir(folder), key=lambda e: e.name):
                if NAME.fullmatch(entry.name) and entry.name.startswith(folder.name):
                    with contextlib.suppress(FileNotFoundError):
                        at = entry.stat(follow_symlinks=False)
                        yield Kept(entry.name, at.st_mtime, at.st_size)

    def delete(self, space: Namespace, name: str) -> None:
        """Unlink the file."""
        self._path(space, name).unlink(missing_ok=True)

    def clear_drafts(self, before: float) -> None:
        """Remove older files of tmp/."""
        for draft in self.tmp.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if draft.lstat().st_mtime < before:
                    draft.unlink()

    @property
    def tmp(self) -> Path:
        """Where objects are written before they have their name."""
        return self.root / "tmp"

    def _path(self, space: Namespace, name: str) -> Path:
        return self.root / space / checked(name)[:2] / name


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
