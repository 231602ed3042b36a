"""Archives that cross an engine's border: read as hostile ones, written for one owner.

In: a stream of tar bytes, or entries. Out: entries, or tar bytes. Nothing is ever unpacked to disk. A hard link is the
file that the same archive held before it; devices, fifos and sockets are named and not opened; a name that leads out of
the tree, comes twice or lies below something that is no folder is refused. What a file says of its size is not
believed: reading stops at the cap.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from typing import IO, Self

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.model import FileEntry

_DEPTH = 256
_PART = 255  # bytes of one part of a path
_BLOCK = 1 << 20


_ENDS = 64  # times that the end is read before whoever reads is taken to look for what an archive only announces


class Chunks(io.RawIOBase):
    """Byte chunks as a file that can be read once. Counts what was read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""
        self._ends = 0

    def readable(self) -> bool:
        """See io."""
        return True

    def readinto(self, room: bytearray) -> int:  # type: ignore[override] # io hands a writable buffer
        """See io."""
        if not self._rest:
            self._rest = next((c for c in self._chunks if c), b"")
            self._ends += not self._rest
        if self._ends > _ENDS:
            raise EOFError("it ends before what its headers announce")
        taken = min(len(self._rest), len(room))
        room[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken


class Header(tarfile.TarInfo):
    """A header that is whole or a fault: the library takes a broken one for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """See tarfile."""
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined] # missing in the stubs
            raise
        except tarfile.HeaderError as fault:
            raise tarfile.ReadError(f"broken header: {fault}") from None


class _Tree:
    """What an archive has shown so far, and what is left of the caps."""

    def __init__(self, top: bytes, max_files: int, max_bytes: int) -> None:
        self._top = top
        self._most = (max_files, max_bytes)
        self._files = self._bytes = 0
        self._kinds: dict[bytes, str] = {b"": "dir"}
        self._contents: dict[bytes, FileEntry] = {}

    @property
    def room(self) -> int:
        """Bytes that may still come, and one more."""
        return max(self._most[1] - self._bytes, 0) + 1

    @property
    def past(self) -> bool:
        """Whether a cap is passed."""
        return self._files > self._most[0] or self._bytes > self._most[1]

    def path(self, name: str) -> bytes:
        """The path below the archive's folder; empty for the folder itself. Raises InputError."""
        first, _, rest = name.encode("utf-8", "surrogateescape").partition(b"/")
        if first != self._top:
            raise InputError(f"the archive holds {name[:80]!r}: wanted a path below {self._top!r}")
        return rest

    def place(self, path: bytes) -> None:
        """Refuse a path that an honest archive does not hold."""
        parts = path.split(b"/")
        if any(p in {b"", b".", b".."} or len(p) > _PART for p in parts):
            raise InputError(f"the archive holds {path[:80]!r}: wanted a plain relative path")
        if path in self._kinds:
            raise InputError(f"the archive holds {path[:80]!r} twice")
        if self._kinds.get(path.rpartition(b"/")[0]) != "dir":
            raise InputError(f"the archive holds {path[:80]!r} below something that is no folder")

    def add(self, entry: FileEntry) -> None:
        """Count an entry."""
        self._files += 1
        self._bytes += len(entry.content)
        self._kinds[entry.path] = entry.kind
        if entry.kind == "file":
            self._contents[entry.path] = entry

    def file(self, path: bytes) -> FileEntry | None:
        """A file that came before."""
        return self._contents.get(path)


def read_tar_stream(
    chunks: Iterable[bytes], top: bytes, *, max_files: int, max_bytes: int, cut: bool = False
) -> Iterator[FileEntry]:
    """Entries of an archive of the folder `top`, whose name is taken off. Raises InputError past a cap, InfraError.

    With `cut` the reading ends with the entry that passes a cap, of which no more than one byte too many is read, and
    leaves out what lies deeper than 256 folders.
    """
    tree = _Tree(top, max_files, max_bytes)
    try:
        with tarfile.open(
            fileobj=Chunks(chunks),
            mode="r|",
            tarinfo=Header,
            encoding="utf-8",
            errors="surrogateescape",
            bufsize=_BLOCK,
        ) as tar:
            for member in tar:
                path = tree.path(member.name)
                if not path or not _shallow(path, strict=not cut):
                    continue
                tree.place(path)
                entry = _entry(tar, member, path, tree)
                tree.add(entry)
                if tree.past and not cut:
                    raise InputError(f"the tree holds more than {max_files} entries or {max_bytes} bytes")
                yield entry
                if tree.past:
                    return
    except (tarfile.TarError, EOFError, ValueError) as fault:
        raise InfraError(f"the archive cannot be read: {fault}") from fault


def _shallow(path: bytes, *, strict: bool) -> bool:
    deep = path.count(b"/") >= _DEPTH
    if deep and strict:
        raise InputError(f"{path[:80]!r}: deeper than {_DEPTH} folders")
    return not deep


def _entry(tar: tarfile.TarFile, member: tarfile.TarInfo, path: bytes, tree: _Tree) -> FileEntry:
    mode = member.mode & 0o7777
    if member.isdir():
        return FileEntry(path, "dir", mode)
    if member.issym():
        return FileEntry(path, "link", 0o777, member.linkname.encode("utf-8", "surrogateescape"))
    if member.islnk():
        first = tree.file(tree.path(member.linkname))
        return FileEntry(path, "file", first.mode, first.content[: tree.room]) if first else _special(path, mode)
    content = _content(tar, member, tree.room) if member.isreg() else None
    return _special(path, mode) if content is None else FileEntry(path, "file", mode, content)


def _special(path: bytes, mode: int) -> FileEntry:
    return FileEntry(path, "special", mode)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, room: int) -> bytes | None:
    source: IO[bytes] | None = tar.extractfile(member)
    if source is None:
        return None
    content = source.read(room)
    if len(content) < min(room, member.size):
        raise tarfile.ReadError(f"{member.name!r} is cut short")
    return content


def file_of(chunks: Iterable[bytes], path: str) -> bytes:
    """The content of an archive's one file, which was asked for by `path`. Raises InfraError."""
    try:
        with tarfile.open(fileobj=Chunks(chunks), mode="r|", tarinfo=Header, bufsize=_BLOCK) as tar:
            member = tar.next()
            source = tar.extractfile(member) if member and member.isreg() else None
            if source is None:
                raise InfraError(f"{path}: wanted a file of the image, got something else")
            return source.read()
    except (tarfile.TarError, EOFError, ValueError) as fault:
        raise InfraError(f"{path}: the archive cannot be read: {fault}") from fault


def write_tar_bytes(entries: Iterable[FileEntry], owner: int) -> bytes:
    """The entries as a tar for an engine: in their order, all of them `owner`'s, folders enterable."""
    raw = io.BytesIO()
    with tarfile.open(
        fileobj=raw, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for entry in entries:
            member = tarfile.TarInfo(entry.path.decode("utf-8", "surrogateescape"))
            member.uid = member.gid = owner
            member.mode = entry.mode & 0o7777 if entry.kind != "dir" or entry.mode & 0o100 else 0o755
            if entry.kind == "file":
                member.size = len(entry.content)
                tar.addfile(member, io.BytesIO(entry.content))
                continue
            member.type = tarfile.DIRTYPE if entry.kind == "dir" else tarfile.SYMTYPE
            member.linkname = entry.content.decode("utf-8", "surrogateescape") if entry.kind == "link" else ""
            tar.addfile(member)
    return raw.getvalue()
