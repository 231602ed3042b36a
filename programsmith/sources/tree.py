"""The locked source as one deterministic tar: written by ingest, read by everyone. Never unpacked on trust."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry


def tree_digest(entries: Iterable[FileEntry]) -> str:
    """SHA-256 over (path, kind, mode, content digest) of every entry, in path order."""
    total = hashlib.sha256()
    for e in sorted(entries):
        inner = hashlib.sha256(e.content).hexdigest()
        total.update(b"%d %s %s %o %s\n" % (len(e.path), e.path, e.kind.encode(), e.mode, inner.encode()))
    return total.hexdigest()


def write_tar(path: Path, entries: Iterable[FileEntry]) -> None:
    """Write entries as a tar whose bytes depend on nothing else: sorted, no times, no owners."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape") as tar:
        for e in sorted(entries):
            info = tarfile.TarInfo(e.path.decode("utf-8", "surrogateescape"))
            info.mode, info.mtime = e.mode, 0
            if e.kind == "link":
                info.type = tarfile.SYMTYPE
                info.linkname = e.content.decode("utf-8", "surrogateescape")
                tar.addfile(info)
            elif e.kind == "dir":
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(e.content)
                tar.addfile(info, io.BytesIO(e.content))


def read_tar(path: Path) -> list[FileEntry]:
    """Entries of a tar that `write_tar` wrote, in path order."""
    return sorted(_entries(path))


def _entries(path: Path) -> Iterator[FileEntry]:
    with tarfile.open(path, "r", encoding="utf-8", errors="surrogateescape") as tar:
        for info in tar:
            name = info.name.encode("utf-8", "surrogateescape")
            if info.issym():
                yield FileEntry(name, "link", info.mode, info.linkname.encode("utf-8", "surrogateescape"))
            elif info.isdir():
                yield FileEntry(name, "dir", info.mode)
            else:
                body = tar.extractfile(info)
                yield FileEntry(name, "file", info.mode, body.read() if body else b"")


class SourceTree:
    """The locked source in memory: files by path. Symlinks are listed but never followed."""

    def __init__(self, entries: Iterable[FileEntry]) -> None:
        self._by_path = {e.path: e for e in entries}

    @classmethod
    def open(cls, path: Path) -> SourceTree:
        """The tree in `source.tar`."""
        return cls(read_tar(path))

    def __iter__(self) -> Iterator[FileEntry]:
        return iter(sorted(self._by_path.values()))

    def get(self, path: bytes) -> FileEntry | None:
        """The entry at `path`, None where there is none."""
        return self._by_path.get(path)

    def files(self, suffix: bytes = b"") -> list[FileEntry]:
        """Regular files whose path ends with `suffix`, in path order."""
        return [e for e in self if e.kind == "file" and e.path.endswith(suffix)]

    def below(self, folder: bytes) -> list[FileEntry]:
        """Entries below `folder` (without trailing slash), in path order; all for an empty name."""
        return [e for e in self if not folder or e.path.startswith(folder + b"/")]
