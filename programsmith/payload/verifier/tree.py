"""Trees between memory and disk: read beneath a root without following links, written into a private folder.

Reading takes regular files and directories only, within caps; everything else is left out by name. Names are bytes.
The walk is iterative and bounded in depth, so no tree can exhaust the stack or the descriptors.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from programsmith.payload.verifier.model import FileEntry

LONGEST = 3000
"""Bytes of a path below a tree that the kernel takes with all that is put before it."""

_BENEATH = os.O_NOFOLLOW | os.O_CLOEXEC
_FOR_ALL = 0o755
_FOR_ALL_PLAIN = 0o644
_KIND_NAMES = (
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "block device"),
    (stat.S_ISCHR, "character device"),
)


class TreeError(Exception):
    """The tree breaks a cap; the message says which one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much of a tree is read: entries of any kind, bytes in all, directory levels."""

    files: int
    bytes: int
    depth: int


@dataclass(slots=True)
class TreeReading:
    """What a reading found: entries in path order, and what was left out as (path, why)."""

    entries: list[FileEntry] = field(default_factory=list)
    left_out: list[tuple[bytes, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    caps: Caps
    skip: frozenset[bytes]
    seen: int = 0
    taken: int = 0
    names: dict[tuple[int, int], list[tuple[bytes, int]]] = field(default_factory=dict)
    found: TreeReading = field(default_factory=TreeReading)

    def folder(self, fd: int, path: bytes, depth: int) -> list[bytes]:
        """Read one directory's files; return its subdirectories' names."""
        with os.scandir(fd) as listing:
            names = [e.name for e in itertools.islice(listing, self.caps.files - self.seen + 1)]
        self.seen += len(names)
        if self.seen > self.caps.files:
            raise TreeError(f"more than {self.caps.files} files and directories")
        below = []
        for name in sorted(names):
            raw = os.fsencode(name)
            inner = path + b"/" + raw if path else raw
            if len(inner) > LONGEST:
                raise TreeError(f"a path of more than {LONGEST} bytes")
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if raw in self.skip:
                self.found.left_out.append((inner, "made by running, not written"))
            elif stat.S_ISDIR(status.st_mode):
                if depth >= self.caps.depth:
                    raise TreeError(f"deeper than {self.caps.depth} directories")
                self.found.entries.append(FileEntry(inner, "dir", 0o755))
                below.append(raw)
            elif stat.S_ISREG(status.st_mode):
                self.file(fd, name, inner)
            else:
                self.found.left_out.append((inner, _kind_name(status.st_mode)))
        return below

    def file(self, fd: int, name: str, path: bytes) -> None:
        """Read one regular file as it is once opened, whatever its name meant before."""
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _BENEATH, dir_fd=fd)
        except PermissionError:
            self.found.left_out.append((path, "unreadable"))
            return
        with os.fdopen(opened, "rb") as source:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                self.found.left_out.append((path, _kind_name(status.st_mode)))
                return
            room = self.caps.bytes - self.taken
            content = source.read(room + 1) if status.st_size <= room else None
        if content is None or len(content) > room:
            raise TreeError(f"more than {self.caps.bytes} bytes")
        self.taken += len(content)
        mode = 0o755 if status.st_mode & 0o111 else 0o644
        self.found.entries.append(FileEntry(path, "file", mode, content))
        if status.st_nlink > 1:
            self.names.setdefault((status.st_dev, status.st_ino), []).append((path, status.st_nlink))


def _kind_name(mode: int) -> str:
    return next((name for test, name in _KIND_NAMES if test(mode)), "neither file nor directory")


def read_tree(root: str, caps: Caps, *, skip: frozenset[bytes] = frozenset()) -> TreeReading:
    """Read what lies below `root`. `skip` names entries that are left out wherever they stand.

    A file that has a further name outside of the tree (a hard link) is left out. Raises TreeError, OSError.
    """
    reader = _Reader(caps, skip)
    with _opened(os.open(root, os.O_RDONLY | os.O_DIRECTORY | _BENEATH)) as top:
        waiting = [(b"", 0)]
        while waiting:
            path, depth = waiting.pop()
            try:
                with _beneath(top, path) as fd:
                    inner = reader.folder(fd, path, depth)
            except PermissionError:
                reader.found.left_out.append((path, "unreadable"))
                continue
            waiting += [(path + b"/" + name if path else name, depth + 1) for name in inner]
    outside = {p for names in reader.names.values() for p, links in names if links > len(names)}
    found = reader.found
    found.left_out += [(path, "hard link with a name outside the tree") for path in outside]
    found.entries = sorted(e for e in found.entries if e.path not in outside)
    found.left_out.sort()
    return found


@contextmanager
def _opened(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _beneath(top: int, path: bytes) -> Iterator[int]:
    """A descriptor of the directory `path` below `top`, opened part by part so that no link is followed."""
    fd = os.dup(top)
    for part in filter(None, path.split(b"/")):
        with _opened(fd):
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _BENEATH, dir_fd=fd)
        fd = inner
    with _opened(fd):
        yield fd


def write_tree(root: str, entries: Iterable[FileEntry]) -> None:
    """Write entries below the new folder `root`, for reading by everyone: directories, then files, links last.

    No path is written through a link. Raises ValueError on a path that leaves the root, OSError.
    """
    os.mkdir(root)
    os.chmod(root, _FOR_ALL)
    ordered = sorted(entries, key=lambda e: (("dir", "file", "link").index(e.kind), e.path))
    made = {b""}
    with _opened(os.open(root, os.O_RDONLY | os.O_DIRECTORY | _BENEATH)) as top:
        for folder, inside in itertools.groupby(ordered, _folder_of):
            if folder not in made:
                _make_folders(top, folder, made)
            with _beneath(top, folder) as fd:
                for entry in inside:
                    if entry.kind != "dir":
                        _write_entry(fd, entry.path.rpartition(b"/")[2], entry)


def _folder_of(entry: FileEntry) -> bytes:
    """The directory that an entry is, or lies in. Raises ValueError on a path that leaves the tree."""
    parts = entry.path.split(b"/")
    if not all(parts) or {b".", b".."} & set(parts):
        raise ValueError(f"not a path below a tree: {entry.path!r}")
    return entry.path if entry.kind == "dir" else b"/".join(parts[:-1])


def _make_folders(top: int, path: bytes, made: set[bytes]) -> None:
    parts = path.split(b"/")
    for count in range(1, len(parts) + 1):
        folder, above = b"/".join(parts[:count]), b"/".join(parts[: count - 1])
        if folder in made:
            continue
        with _beneath(top, above) as fd:
            os.mkdir(parts[count - 1], dir_fd=fd)
            os.chmod(parts[count - 1], _FOR_ALL, dir_fd=fd)
        made.add(folder)


def _write_entry(fd: int, name: bytes, entry: FileEntry) -> None:
    if entry.kind == "link":
        os.symlink(entry.content, name, dir_fd=fd)
        return
    made = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BENEATH, 0o600, dir_fd=fd)
    with os.fdopen(made, "wb") as out:
        out.write(entry.content)
        os.fchmod(made, _FOR_ALL if entry.mode & 0o111 else _FOR_ALL_PLAIN)


def tree_digest(entries: Iterable[FileEntry]) -> str:
    """SHA-256 over (path, kind, mode, content digest) of every entry, in path order."""
    total = hashlib.sha256()
    for e in sorted(entries):
        inner = hashlib.sha256(e.content).hexdigest()
        total.update(b"%d %s %s %o %s\n" % (len(e.path), e.path, e.kind.encode(), e.mode, inner.encode()))
    return total.hexdigest()
