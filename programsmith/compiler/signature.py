"""Content of files and folders, asked cheaply: a stat line that answers for unchanged paths, and a SHA-256.

In: a path whose content may be hostile. Out: its signature, None where it is absent. Links are never followed: a link
is its target's name; a socket, device or pipe is its kind and is never opened. What git and interpreters leave behind
is not content. A file of LARGE bytes, which no block takes or makes, is known by size and time: reading it has no end.
Refuses what cannot be read (InputError).
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from programsmith.compiler.stamp import LEFT_BEHIND
from programsmith.errors import InputError

LARGE = 2 << 30
YOUNG_NS = 2_000_000_000  # the coarsest clock of a file system: what is younger may change and keep its stat line
TICK_NS = 20_000_000  # the coarsest clock by which a kernel stamps a change on a file system of today
SHOWN = 200  # bytes of a path in a message


@dataclass(frozen=True, slots=True)
class Signature:
    """`seen`: digest over times, size and inode of everything; `content`: SHA-256 of bytes, names and modes."""

    seen: str
    content: str


def sign(path: Path) -> Signature | None:
    """Signature of a file, or of a folder with all below it. None where nothing is. Raises InputError."""
    try:
        with _readable(path):
            name = os.fsencode(path)
            seen, newest = _settled(name)
            if newest > time.time_ns() - YOUNG_NS:
                return Signature(seen, _content(name))
            return Signature(seen, _remembered(name, seen))
    except FileNotFoundError:
        return None


def unchanged(path: Path, known: Signature) -> bool:
    """Whether `path` holds what `known` says. Reads content only where the stat line differs. Raises InputError."""
    try:
        with _readable(path):
            name = os.fsencode(path)
            return _seen(name)[0] == known.seen or _content(name) == known.content
    except FileNotFoundError:
        return False


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what keeps `path` from being read into one line: rights, names that are too long."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as fault:
        inner = os.fsencode(fault.filename or path)
        shown = inner if len(inner) <= SHOWN else b"%s... (%d bytes)" % (inner[:SHOWN], len(inner))
        raise InputError(f"{path}: cannot be read whole: {os.fsdecode(shown)!a}: {fault.strerror}; mend it") from fault


def file_digest(path: bytes) -> str:
    """SHA-256 of a regular file's bytes."""
    with open(path, "rb") as body:
        return hashlib.file_digest(body, "sha256").hexdigest()


@functools.lru_cache(maxsize=4096)
def _remembered(path: bytes, seen: str) -> str:
    """The content of a path, which is read by many tasks, as long as its stat line is this one."""
    del seen
    return _content(path)


def _settled(path: bytes) -> tuple[str, int]:
    """Like _seen, once the clock of changes has moved on: whatever changes from now on changes the stat line."""
    seen, newest = _seen(path)
    age = time.time_ns() - newest
    if not 0 <= age < TICK_NS:
        return seen, newest
    time.sleep((TICK_NS - age) / 1e9)
    return _seen(path)


def _seen(path: bytes) -> tuple[str, int]:
    """The stat line of everything, and the latest of all times in it."""
    total, newest = hashlib.sha256(), 0
    for name, at in _walk(path):
        newest = max(newest, at.st_mtime_ns, at.st_ctime_ns)
        total.update(b"%d %s %d %d" % (len(name), name, at.st_mode, at.st_mtime_ns))
        if not stat.S_ISDIR(at.st_mode):
            total.update(b" %d %d %d" % (at.st_ctime_ns, at.st_size, at.st_ino))
        total.update(b"\n")
    return total.hexdigest(), newest


def _content(path: bytes) -> str:
    status = os.lstat(path)
    if stat.S_ISREG(status.st_mode) and status.st_size < LARGE:
        return file_digest(path)
    total = hashlib.sha256()
    for name, at in _walk(path):
        total.update(b"%d %s %o " % (len(name), name, stat.S_IMODE(at.st_mode)))
        total.update(_body(os.path.join(path, name) if name else path, at))
        total.update(b"\n")
    return total.hexdigest()


def _body(path: bytes, at: os.stat_result) -> bytes:
    mode = at.st_mode
    if stat.S_ISDIR(mode):
        return b"dir"
    if stat.S_ISLNK(mode):
        target = os.readlink(path)
        return b"link %d %s" % (len(target), target)
    if stat.S_ISREG(mode) and at.st_size >= LARGE:
        return b"large %d %d" % (at.st_size, at.st_mtime_ns)
    if stat.S_ISREG(mode):
        return b"file " + file_digest(path).encode("ascii")
    return b"odd %o" % stat.S_IFMT(mode)


def _walk(top: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """(name below `top`, lstat) of `top` itself and all below it, in name order."""
    waiting = [b""]
    while waiting:
        name = waiting.pop()
        path = os.path.join(top, name) if name else top
        at = os.lstat(path)
        yield name, at
        if stat.S_ISDIR(at.st_mode):
            inner = sorted(set(os.listdir(path)) - LEFT_BEHIND, reverse=True)
            waiting += [os.path.join(name, i) if name else i for i in inner]
