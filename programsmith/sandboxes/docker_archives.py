"""Files of one container, whether it runs or not: laid down as an archive of ours, read back as a hostile one.

In: paths inside. Out: entries. A path is followed folder by folder: a link that a program left leads nowhere.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from programsmith.errors import InfraError, InputError, ProgramSmithError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import LONGEST
from programsmith.payload.verifier.wire import NAME_MOST, check_paths
from programsmith.sandboxes import hostile
from programsmith.sandboxes.engine import downloading, engine, header, talking
from programsmith.sandboxes.tars import file_of, read_tar_stream, write_tar_bytes

_SHOWN_FILES, _SHOWN_BYTES = 1 << 20, 1 << 32
_FOLDER = 1 << 31  # of a mode as the engine writes it
_LINKS = 16  # of one path, at most
_STAT = "X-Docker-Container-Path-Stat"


def tree_of(folder: Path, *, foreign: bool = False) -> Iterator[FileEntry]:
    """Entries of a tree: files, folders, and links as they are. Raises InputError where it cannot be read.

    Of a `foreign` tree a file that has a further name outside of it is left out: inside nobody could tell any more. So
    is what lies below a folder that is too deep, or whose path is too long, for any verifier to receive it: an engine
    might not unpack that.
    """
    with hostile.opened(folder, ()) as top:
        outside = hostile.linked_outside(top) if foreign else ()
        for entry in hostile.read_tree(top, max_files=_SHOWN_FILES, max_bytes=_SHOWN_BYTES, cut=foreign):
            if foreign and len(entry.path) > LONGEST + 1 + NAME_MOST:
                continue
            if entry.kind != "special" and entry.path not in outside:
                yield entry


def fill(container: str, top: str, entries: Iterable[FileEntry], owner: int) -> None:
    """Lay entries of ours down below the folder `top`. Raises InfraError."""
    content = write_tar_bytes(entries, owner)
    with talking(f"filling {top}"):
        if not engine().api.put_archive(container, top, content):
            raise InfraError(f"Docker engine: {top} could not be filled")


def put(container: str, top: str, parts: Sequence[bytes], entries: Iterable[FileEntry], owner: int) -> None:
    """Lay entries down below a folder of `top`, replacing what is there. Raises InputError for a link, InfraError."""
    found = list(entries)
    check_paths(found)
    missing = [FileEntry(path, "dir") for path in _missing(container, top, parts)]
    base = b"/".join(parts)
    below = [dataclasses.replace(e, path=base + b"/" + e.path if base else e.path) for e in found]
    seen = set(_folders(parts))
    for entry in sorted(below):
        path = entry.path.split(b"/")
        for folder in _folders(path if entry.kind == "dir" else path[:-1]):
            if folder not in seen and not _is_folder(container, top, folder, InfraError, f" for {entry.path!r}"):
                missing.append(FileEntry(folder, "dir"))
            seen.add(folder)
    fill(container, top, [*missing, *(e for e in below if e.kind != "dir")], owner)


def take(
    container: str, top: str, parts: Sequence[bytes] = (), *, max_files: int, max_bytes: int, cut: bool = False
) -> tuple[FileEntry, ...]:
    """Entries below a folder of `top`. Raises InputError past a cap or where there is no such folder."""
    if _missing(container, top, parts):
        raise InputError(f"{top} has no folder {b'/'.join(parts)!r}")
    path = _path(top, b"/".join(parts))
    with downloading(f"/containers/{container}/archive", path=path) as chunks:
        name = os.fsencode(path.rpartition("/")[2])
        return tuple(sorted(read_tar_stream(chunks, name, max_files=max_files, max_bytes=max_bytes, cut=cut)))


def content(container: str, path: str) -> bytes:
    """The content of a file of the image, links followed. Raises InfraError where there is none."""
    for _ in range(_LINKS):
        told = header(f"/containers/{container}/archive", _STAT, path=path)
        led = json.loads(base64.b64decode(told))["linkTarget"] if told else ""
        if not led:
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), led))
    with downloading(f"/containers/{container}/archive", path=path) as chunks:
        return file_of(chunks, path)


def _path(top: str, path: bytes) -> str:
    return f"{top}/{os.fsdecode(path)}" if path else top


def _folders(parts: Sequence[bytes]) -> list[bytes]:
    """The folders on the way, outer first."""
    return [b"/".join(parts[: n + 1]) for n in range(len(parts))]


def _missing(container: str, top: str, parts: Sequence[bytes]) -> list[bytes]:
    """Folders on the way that are not there yet. Raises InputError where one is something else."""
    return [f for f in _folders(parts) if not _is_folder(container, top, f, InputError)]


def _is_folder(container: str, top: str, path: bytes, fault: type[ProgramSmithError], why: str = "") -> bool:
    """Whether a folder is there or nothing; raises `fault` for anything else. What is above it are folders."""
    told = header(f"/containers/{container}/archive", _STAT, path=_path(top, path))
    if told is None:
        return False
    if not int(json.loads(base64.b64decode(told))["mode"]) & _FOLDER:
        raise fault(f"{path!r} below {top}: wanted a folder{why}, got something else")
    return True
