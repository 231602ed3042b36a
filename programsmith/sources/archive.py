"""A tar or zip archive as a source, checked against its SHA-256. Nothing is unpacked to disk.

In: a file. Out: its entries without a single top-level folder. Hostile archives are InputError: absolute names, `..`,
links out, devices, hard links to outside, two entries of one name, encrypted or sparse members, bombs.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from programsmith.errors import InputError, boundary
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.export import LinkTree
from programsmith.sources.origin import Caps, Meter, Origin, show

PIECE = 1 << 20
TAR_BLOCK = 512
OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
ZIP_REGULAR, ZIP_LINK = 0o10, 0o12  # file type bits of a member that unix made; 0 where another system did
ARCHIVE_SUFFIX = re.compile(r"(\.orig)?\.(tar(\.[a-z0-9]+)?|t[gbx]z2?|zip)$", re.IGNORECASE)
VERSION_SUFFIX = re.compile(r"[-_]v?\d[\w.+~-]*$")


def read_archive(label: str, path: Path, sha256: str, caps: Caps) -> Origin:
    """The entries of the archive at `path`. Raises InputError (absent, other digest, hostile), RefusedError."""
    if not path.is_file():
        raise InputError(f"source.archive: {label}: no such file; give a path relative to the project root")
    with path.open("rb") as body:
        got = hashlib.file_digest(body, "sha256").hexdigest()
    if got != sha256.lower():
        raise InputError(f"source.sha256: {label}: wanted {sha256.lower()}, got {got}; check the file or the spec")
    faults = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, ValueError)
    with boundary(InputError, f"source.archive: {label} cannot be read", *faults, NotImplementedError, RuntimeError):
        entries = list(_zip(label, path, caps) if zipfile.is_zipfile(path) else _tar(label, path, caps))
    _check_links(label, entries)
    top, stripped = _strip_top(entries)
    names = tuple(dict.fromkeys(VERSION_SUFFIX.sub("", n) for n in (ARCHIVE_SUFFIX.sub("", path.name), top) if n))
    return Origin(label=path.name, commit=got, entries=tuple(stripped), names=names)


def _hostile(label: str, name: bytes, fault: str) -> NoReturn:
    raise InputError(f"source.archive: {label}: entry {show(name)!r} {fault}; this archive is not safe to read")


class _Names:
    """Entry names of one archive: checked, made relative, each only once."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._seen: set[bytes] = set()

    def take(self, name: bytes, *, folder: bool) -> bytes | None:
        """The clean path, None for a folder. Raises InputError."""
        parts = [p for p in name.split(b"/") if p not in {b"", b"."}]
        if name.startswith(b"/"):
            _hostile(self._label, name, "is absolute")
        if b".." in parts:
            _hostile(self._label, name, "climbs out with ..")
        if folder:
            return None
        path = b"/".join(parts)
        if not path or b"\0" in path:
            _hostile(self._label, name, "has no usable name")
        if path in self._seen:
            _hostile(self._label, name, "is there twice")
        self._seen.add(path)
        return path


def _unpacked(path: Path, caps: Caps, into: IO[bytes]) -> None:
    """Decompress `path` into a scratch file within the caps, so that a bomb stops early."""
    with path.open("rb") as body:
        magic = body.read(6)
    opener = next((o for sign, o in OPENERS.items() if magic.startswith(sign)), open)
    most = caps.bytes + 4 * TAR_BLOCK * caps.files
    ratio_most = max(PIECE, path.stat().st_size) * caps.archive_ratio
    total = 0
    with opener(path, "rb") as packed:
        while piece := packed.read(PIECE):
            total += len(piece)
            if total > min(most, ratio_most):
                raise InputError(
                    f"source.archive: {path.name} unpacks to more than {min(most, ratio_most)} bytes; "
                    "this archive is not safe to read"
                )
            into.write(piece)
    into.seek(0)


def _tar(label: str, path: Path, caps: Caps) -> Iterator[FileEntry]:
    names, meter = _Names(label), Meter(caps)
    bodies: dict[bytes, FileEntry] = {}
    with tempfile.TemporaryFile() as plain:
        _unpacked(path, caps, plain)
        with tarfile.open(fileobj=plain, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            for member in tar:
                raw = member.name.encode("utf-8", "surrogateescape")
                clean = names.take(raw, folder=member.isdir())
                meter.add(raw, member.size if member.isreg() else 0)
                if clean is not None:
                    bodies[clean] = _member(label, tar, member, clean, bodies)
                    yield bodies[clean]


def _member(
    label: str, tar: tarfile.TarFile, member: tarfile.TarInfo, path: bytes, before: dict[bytes, FileEntry]
) -> FileEntry:
    target = member.linkname.encode("utf-8", "surrogateescape")
    if member.issym():
        return FileEntry(path, "link", 0o777, target)
    if member.islnk():
        same = before.get(b"/".join(p for p in target.split(b"/") if p not in {b"", b"."}))
        if same is None or same.kind != "file":
            _hostile(label, path, "is a hard link to something that is not an earlier file of the archive")
        return FileEntry(path, "file", same.mode, same.content)
    if not member.isreg() or member.issparse():
        _hostile(label, path, "is a device, a pipe, a sparse file or of an unknown type")
    body = tar.extractfile(member)
    content = body.read() if body else b""
    if len(content) != member.size:
        _hostile(label, path, "is cut off")
    return FileEntry(path, "file", member.mode & 0o777, content)


def _zip(label: str, path: Path, caps: Caps) -> Iterator[FileEntry]:
    names, meter = _Names(label), Meter(caps)
    ratio_most = max(PIECE, path.stat().st_size) * caps.archive_ratio
    with zipfile.ZipFile(path) as archive:
        total = 0
        for item in archive.infolist():
            raw = item.orig_filename.encode("utf-8" if item.flag_bits & 0x800 else "cp437")
            clean = names.take(raw, folder=item.is_dir())
            meter.add(raw, item.file_size)
            total += item.file_size
            if total > ratio_most:
                _hostile(label, raw, f"brings the archive above {ratio_most} unpacked bytes")
            if clean is not None:
                yield _zipped(label, archive, item, clean)


def _zipped(label: str, archive: zipfile.ZipFile, item: zipfile.ZipInfo, path: bytes) -> FileEntry:
    if item.flag_bits & 0x1:
        _hostile(label, path, "is encrypted")
    mode = item.external_attr >> 16
    kind = mode >> 12
    if kind not in {0, ZIP_REGULAR, ZIP_LINK}:
        _hostile(label, path, "is a device, a pipe or of an unknown type")
    content = archive.read(item)
    if kind == ZIP_LINK:
        return FileEntry(path, "link", 0o777, content)
    return FileEntry(path, "file", mode & 0o777 or 0o644, content)


def _check_links(label: str, entries: list[FileEntry]) -> None:
    tree = LinkTree(entries)
    for e in entries:
        if e.kind == "link" and tree.fault(e.path) == "outside":
            _hostile(label, e.path, f"links out of the archive, to {show(e.content)!r}")


def _strip_top(entries: list[FileEntry]) -> tuple[str, list[FileEntry]]:
    """The name of the single top-level folder (or empty) and the entries without it."""
    tops = {e.path.split(b"/")[0] for e in entries}
    if len(tops) != 1 or any(b"/" not in e.path for e in entries):
        return "", entries
    (top,) = tops
    cut = len(top) + 1
    return show(top), [FileEntry(e.path[cut:], e.kind, e.mode, e.content) for e in entries]
