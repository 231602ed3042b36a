"""Reading the work directory back when every process is dead: the twin of the second half of tree.h."""

from __future__ import annotations

import os
import stat
import struct

from programsmith.payload.init.calls import FOLDER, Status
from programsmith.payload.init.request import Request


class Walk:
    """Reads the work directory back: follows nothing, opens regular files only, has caps."""

    def __init__(self, r: Request) -> None:
        self._most = r.number
        self._levels: list[tuple[int, bytes, list[str]]] = []
        self._files = self._bytes = 0
        self._enter(os.open(r.work, FOLDER), b"")

    def _enter(self, fd: int, prefix: bytes) -> None:
        with os.scandir(fd) as items:
            self._levels.append((fd, prefix, [item.name for item in items]))

    def read(self) -> str | None:
        """Report every entry; why not all of them, else None."""
        stop = None
        while self._levels and not stop:
            fd, prefix, names = self._levels[-1]
            if names:
                stop = self._visit(fd, prefix, names.pop())
            else:
                os.close(fd)
                self._levels.pop()
        return stop

    def _visit(self, at: int, prefix: bytes, name: str) -> str | None:
        self._files += 1
        if self._files > self._most["max_files"]:
            return "too many entries"
        facts = os.stat(name, dir_fd=at, follow_symlinks=False)
        path = prefix + os.fsencode(name)
        if stat.S_ISREG(facts.st_mode):
            return self._file(at, name, path, facts)
        if stat.S_ISLNK(facts.st_mode):
            self._say(2, 0o777, path, os.fsencode(os.readlink(name, dir_fd=at)))
            return None
        self._say(1 if stat.S_ISDIR(facts.st_mode) else 3, facts.st_mode, path, b"")
        if not stat.S_ISDIR(facts.st_mode):
            return None
        if len(self._levels) >= self._most["max_depth"]:
            return "too deep"
        self._enter(os.open(name, FOLDER, dir_fd=at), path + b"/")
        return None

    def _file(self, at: int, name: str, path: bytes, facts: os.stat_result) -> str | None:
        self._bytes += facts.st_size
        if self._bytes > self._most["max_bytes"]:
            return "too many bytes"
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        with open(fd, "rb") as source:
            self._say(0, facts.st_mode, path, source.read())
        return None

    def _say(self, kind: int, mode: int, path: bytes, content: bytes) -> None:
        Status.say(b"N", struct.pack("<3Q", kind, mode & 0o7777, len(path)) + path + content)


def collect(r: Request) -> None:
    """Report the work directory."""
    try:
        stop = Walk(r).read()
    except OSError as error:
        stop = f"an entry cannot be read: {error.strerror}"
    if stop:
        Status.say(b"U", stop.encode())
