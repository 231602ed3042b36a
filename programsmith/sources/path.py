"""A local folder as a source. Links are recorded, never followed; what git and interpreters leave is no source."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from programsmith.errors import InputError, boundary
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.forge import owner_of
from programsmith.sources.origin import Caps, Meter, Origin, RefusedError, show

LEFT_BEHIND = frozenset({b".git", b"__pycache__"})


def read_path(label: str, folder: Path, caps: Caps, forbidden: Sequence[Path]) -> Origin:
    """The files below `folder`. `label` is the path as the spec gives it, `forbidden` what it may not contain.

    Raises InputError where `folder` is no folder or contains a forbidden one, RefusedError `too_large`, `odd_file`.
    """
    if not folder.is_dir():
        raise InputError(f"source.path: {label}: wanted a folder, got none; give a path relative to the project root")
    real = folder.resolve()
    for other in forbidden:
        if other.resolve() == real or real in other.resolve().parents:
            raise InputError(f"source.path: {label} contains {other}, which builds write to; name a folder beside it")
    with boundary(InputError, f"source.path: {label} cannot be read", OSError):
        entries = tuple(_walk(os.fsencode(real), Meter(caps)))
    return Origin(label=label, commit="", entries=entries, names=(real.name,), owner=_remote(real))


def _walk(root: bytes, meter: Meter) -> Iterator[FileEntry]:
    todo = [b""]
    while todo:
        folder = todo.pop()
        with os.scandir(os.path.join(root, folder)) as found:
            for item in sorted(found, key=lambda i: i.name):
                if item.name in LEFT_BEHIND:
                    continue
                path = folder + b"/" + item.name if folder else item.name
                if item.is_dir(follow_symlinks=False):
                    todo.append(path)
                else:
                    yield _entry(root, path, meter)


def _entry(root: bytes, path: bytes, meter: Meter) -> FileEntry:
    full = os.path.join(root, path)
    status = os.lstat(full)
    meter.add(path, status.st_size)
    if stat.S_ISLNK(status.st_mode):
        return FileEntry(path, "link", 0o777, os.readlink(full))
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError("odd_file", f"{show(path)} is neither file, folder nor symlink")
    with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW), "rb") as body:
        return FileEntry(path, "file", stat.S_IMODE(status.st_mode), body.read())


def _remote(folder: Path) -> str | None:
    """`owner/name` of the checkout's origin, so that a clone of a benchmark is known as one."""
    config = folder / ".git" / "config"
    if not config.is_file():
        return None
    from git import GitConfigParser

    with GitConfigParser(config, read_only=True, merge_includes=False) as parser:
        url = str(parser.get_value('remote "origin"', "url", default=""))
    return owner_of(url)
