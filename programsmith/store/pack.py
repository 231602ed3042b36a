"""A file or folder as one object, and back, with names, modes and links as they were.

In: a path. Out: bytes that are equal for equal content, whatever times and owners. Refuses to pack what is neither
file, folder nor link, and to unpack a name that leaves the folder (both ValueError).
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry

FILE, FOLDER = b"file\n", b"tree\n"
_KINDS = {"dir": tarfile.DIRTYPE, "file": tarfile.REGTYPE, "link": tarfile.SYMTYPE}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def packed(path: Path) -> bytes:
    """The object of what lies at `path`. Raises ValueError, OSError."""
    top = _entry(os.fsencode(path), b"")
    if top.kind == "file":
        return FILE + b"%o\n" % top.mode + top.content
    if top.kind != "dir":
        raise ValueError(f"{path} is a link; a store keeps files and folders")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as tar:
        for entry in (top, *_below(os.fsencode(path))):
            tar.addfile(_member(entry), io.BytesIO(entry.content) if entry.kind == "file" else None)
    return FOLDER + out.getvalue()


def unpack(content: bytes, path: Path) -> None:
    """Make what `packed` was given at `path`, where nothing is yet. Raises ValueError, OSError."""
    if content.startswith(FILE):
        mode, _, body = content.removeprefix(FILE).partition(b"\n")
        _write(os.fsencode(path), FileEntry(b"", "file", int(mode, 8) & 0o777, body))
        return
    if not content.startswith(FOLDER):
        raise ValueError("the object is neither a file nor a folder")
    entries = list(_entries(content.removeprefix(FOLDER)))
    folders = [e for e in entries if e.kind == "dir"]
    for entry in folders:
        os.mkdir(_place(path, entry), 0o700)
    for entry in entries:
        if entry.kind != "dir":
            _write(_place(path, entry), entry)
    for entry in reversed(folders):
        os.chmod(_place(path, entry), entry.mode)


def _entries(raw: bytes) -> Iterator[FileEntry]:
    """The entries, each checked: no name that leaves the folder, nothing below a link."""
    folders: set[bytes] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", encoding="utf-8") as tar:
            for member in tar:
                entry = _read(tar, member)
                parts = entry.path.split(b"/") if entry.path else []
                above = b"/".join(parts[:-1])
                if (
                    not all(parts)
                    or {b".", b".."} & set(parts)
                    or b"\0" in entry.path
                    or (parts and above not in folders)
                ):
                    raise ValueError(f"not a path below a folder: {entry.path!r}")
                if entry.kind == "dir":
                    folders.add(entry.path)
                yield entry
    except tarfile.TarError as fault:
        raise ValueError(f"the object is no folder: {fault}") from fault
    if b"" not in folders:
        raise ValueError("the object has no folder at its top")


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> FileEntry:
    kind = _NAMES.get(member.type)
    if kind is None:
        raise ValueError(f"{member.name!r} is neither file, folder nor link")
    body = tar.extractfile(member) if kind == "file" else None
    content = body.read() if body else os.fsencode(member.linkname)
    if body and len(content) != member.size:
        raise ValueError(f"{member.name!r} is cut off")
    path = os.fsencode(member.name)
    return FileEntry(b"" if path == b"." else path, kind, member.mode & 0o777, content)


def _member(entry: FileEntry) -> tarfile.TarInfo:
    member = tarfile.TarInfo(os.fsdecode(entry.path or b"."))
    member.type, member.mode = _KINDS[entry.kind], entry.mode
    member.size = len(entry.content) if entry.kind == "file" else 0
    member.linkname = os.fsdecode(entry.content) if entry.kind == "link" else ""
    return member


def _below(top: bytes) -> Iterator[FileEntry]:
    """All entries below `top` in path order of each folder, folders before what they hold."""
    waiting = sorted(os.listdir(top), reverse=True)
    while waiting:
        path = waiting.pop()
        entry = _entry(os.path.join(top, path), path)
        yield entry
        if entry.kind == "dir":
            waiting += sorted((path + b"/" + name for name in os.listdir(os.path.join(top, path))), reverse=True)


def _entry(path: bytes, name: bytes) -> FileEntry:
    at = os.lstat(path)
    mode = stat.S_IMODE(at.st_mode) & 0o777
    if stat.S_ISDIR(at.st_mode):
        return FileEntry(name, "dir", mode)
    if stat.S_ISLNK(at.st_mode):
        return FileEntry(name, "link", 0o777, os.readlink(path))
    if not stat.S_ISREG(at.st_mode):
        raise ValueError(f"{path!r} is neither file, folder nor link")
    with open(path, "rb") as body:
        return FileEntry(name, "file", mode, body.read())


def _place(top: Path, entry: FileEntry) -> bytes:
    return os.path.join(os.fsencode(top), entry.path) if entry.path else os.fsencode(top)


def _write(path: bytes, entry: FileEntry) -> None:
    if entry.kind == "link":
        os.symlink(entry.content, path)
        return
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(made, "wb") as out:
        out.write(entry.content)
        os.fchmod(made, entry.mode)
