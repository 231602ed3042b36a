"""The root file system of an image as one compressed archive, from which a Dockerfile makes the same root again.

In: an image that the engine has, patterns of what belongs to a machine or an hour. Out: bytes, the same for the same
image: entries in the order of their names with hard links behind all else, no names of users, no time of the making.
"""

from __future__ import annotations

import copy
import gzip
import io
import tarfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from programsmith.errors import InfraError, boundary
from programsmith.sandboxes.docker_container import Plan, create, remove_container
from programsmith.sandboxes.engine import downloading

_FAST = 1  # the level of compression: a base is several hundred megabytes
_LEAST_BYTES = 1 << 26


def packed_root(image: str, leave: Sequence[str], spool: Path) -> bytes:
    """The root of an image without files that fit a pattern of `leave`; `spool` is overwritten. Raises InfraError."""
    container = create(Plan(image=image, command=["true"], workdir="/", memory_bytes=_LEAST_BYTES, pids=8))
    try:
        with downloading(f"/containers/{container}/export") as chunks, spool.open("wb") as out:
            for chunk in chunks:
                out.write(chunk)
    finally:
        remove_container(container)
    with boundary(InfraError, f"the root of {image} cannot be read", OSError, tarfile.TarError):
        return packed(spool, leave)


def packed(spool: Path, leave: Sequence[str]) -> bytes:
    """An archive of a root, put in order. Raises OSError, tarfile.TarError."""
    raw = io.BytesIO()
    with (
        tarfile.open(spool, "r:", encoding="utf-8", errors="surrogateescape") as source,
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=_FAST, mtime=0, filename="") as zipped,
        tarfile.open(
            fileobj=zipped, mode="w|", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
        ) as out,
    ):
        kept = [member for member in source.getmembers() if not _left(member, leave)]
        for member in sorted(kept, key=lambda m: (m.islnk(), m.name)):
            content = source.extractfile(member) if member.isreg() else None
            out.addfile(_plain(member), content)
    return raw.getvalue()


def _left(member: tarfile.TarInfo, leave: Sequence[str]) -> bool:
    return not member.isdir() and any(fnmatchcase(member.name, pattern) for pattern in leave)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry with whole seconds and owners by number alone."""
    made = copy.copy(member)
    made.mtime, made.uname, made.gname, made.pax_headers = int(member.mtime), "", "", {}
    return made
