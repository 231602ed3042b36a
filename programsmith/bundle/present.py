"""What lies at a path that somebody hands in as an exported task: a folder, or a tar of one. Nothing is unpacked.

In: a path of no trust at all. Out: its regular files by path, and what else lies there, by kind. Links are not
followed, devices, fifos and sockets not opened, nothing is changed. Refuses what is neither folder nor tar, and what
passes a cap.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from programsmith.bundle.signature import EXECUTABLE
from programsmith.bundle.tree import is_plain, plain
from programsmith.errors import InfraError, InputError, boundary
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import Caps, TreeError, read_tree
from programsmith.sandboxes.tars import read_tar_stream

CAPS = Caps(files=200_000, bytes=1 << 29, depth=64)
PRIVILEGES = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
KINDS = {"link": "a symlink", "special": "a device, fifo or socket", "dir": "an empty folder"}
_ARCHIVE = 2 * CAPS.bytes
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """`files` are regular files by path, their mode 0644 or 0755; `odd` is what else lies there, in words.

    Paths are plain: what a bundle's path cannot hold is written as `%XX`.
    """

    files: dict[str, FileEntry]
    odd: dict[str, str]


def read_present(path: Path) -> Present:
    """What lies at `path`. Raises InputError."""
    with boundary(InputError, f"{path}: cannot be read as an exported task", OSError, ValueError):
        real = os.path.realpath(path, strict=True)
        status = os.stat(real)
        if stat.S_ISDIR(status.st_mode):
            return _folder(real)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("wanted a folder or a tar of one, got neither folder nor regular file")
        if status.st_size > _ARCHIVE:
            raise ValueError(f"wanted a tar of at most {_ARCHIVE} bytes, got {status.st_size}")
        return _archive(real)


def _folder(top: str) -> Present:
    try:
        reading = read_tree(top, CAPS)
    except TreeError as fault:
        raise ValueError(str(fault)) from fault
    modes = {e.path: os.lstat(os.path.join(os.fsencode(top), e.path)).st_mode for e in reading.entries}
    entries = (replace(e, mode=stat.S_IMODE(modes[e.path])) for e in reading.entries)
    return _sorted_out(entries, {plain(p).decode("ascii"): _article(why) for p, why in reading.left_out})


def _archive(path: str) -> Present:
    with open(path, "rb") as source:
        chunks = iter(lambda: source.read(_CHUNK), b"")
        try:
            top = _top(source.read(_CHUNK))
            source.seek(0)
            return _sorted_out(read_tar_stream(chunks, top, max_files=CAPS.files, max_bytes=CAPS.bytes), {})
        except (InfraError, InputError) as fault:
            raise ValueError(str(fault)) from fault


def _top(head: bytes) -> bytes:
    """The folder that a tar begins with, as the first of its bytes tell."""
    shown = io.BytesIO(head)
    with (
        boundary(InputError, "not a tar", tarfile.TarError),
        tarfile.open(fileobj=shown, mode="r|", encoding="utf-8", errors="surrogateescape") as tar,
    ):
        first = tar.next()
    top = (first.name if first else "").encode("utf-8", "surrogateescape").partition(b"/")[0]
    if not is_plain(top):
        raise ValueError(f"wanted a tar of one folder, got {top[:80]!r} at its beginning")
    return top


def _sorted_out(entries: Iterator[FileEntry], odd: dict[str, str]) -> Present:
    files: dict[str, FileEntry] = {}
    folders: set[str] = set()
    for e in entries:
        name, good = plain(e.path).decode("ascii"), is_plain(e.path)
        if e.kind == "file" and good:
            files[name] = replace(e, mode=0o755 if e.mode & EXECUTABLE else 0o644)
        if e.kind == "dir" and good:
            folders.add(name)
        elif e.kind != "file":
            odd[name] = KINDS[e.kind]
        elif not good:
            odd[name] = "a file with a name that no bundle has"
        elif e.mode & PRIVILEGES:
            odd[name] = f"mode {e.mode:04o}"
    filled = {above for path in (*files, *odd, *folders) for above in _above(path)}
    return Present(files=files, odd=odd | dict.fromkeys(folders - filled, KINDS["dir"]))


def _above(path: str) -> Iterator[str]:
    """Every folder that a path lies in."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _article(why: str) -> str:
    return f"a {why}" if why.endswith(("symlink", "fifo", "socket", "device")) else f"a file that is {why}"
