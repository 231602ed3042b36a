"""Folders of the project that an agent is made of: where they may lie, what is in them.

In: a path of a spec entry. Out: its place on the host, a digest of a folder's content. Refuses what is not there, and a
folder through which an agent would see the cache, the exports or the program that it is to write.
"""

from __future__ import annotations

import stat
from pathlib import Path

from programsmith.errors import InputError, boundary
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import Caps, TreeError, read_tree, tree_digest

CAPS = Caps(files=20_000, bytes=256 << 20, depth=32)
CLOSED = ("cache", "dist")
LEFT_BY_RUNNING = frozenset({b"__pycache__"})


def file_at(project: Path, name: str) -> Path:
    """The regular file that a spec entry names. Raises InputError."""
    path = (project / name).resolve()
    if not path.is_file():
        raise InputError(f"{name}: wanted a file, from the project's root, for an agent to run; there is none")
    folder_at(project, str(path.parent))
    return path


def folder_at(project: Path, name: str) -> Path:
    """The folder that a spec entry names. Raises InputError where it is none, or holds or lies in cache/ or dist/."""
    folder = (project / name).resolve()
    if not folder.is_dir():
        raise InputError(f"{name}: wanted a folder, from the project's root, to show to an agent; there is none")
    for closed in ((project / name).resolve() for name in CLOSED):
        if closed.is_relative_to(folder) or folder.is_relative_to(closed):
            raise InputError(
                f"{name}: an agent would see {closed.name}/ through it; keep what it runs in another folder"
            )
    return folder


def digest(folder: Path) -> str:
    """Tree digest of a folder: paths, modes, content. Raises InputError where it cannot be read or is too large."""
    with boundary(InputError, f"{folder}: cannot be shown to an agent", OSError, TreeError):
        found = read_tree(str(folder), CAPS, skip=LEFT_BY_RUNNING)
        links = [FileEntry(path, "link") for path, _ in found.left_out if _is_link(folder, path)]
        return tree_digest([*found.entries, *links])


def _is_link(folder: Path, path: bytes) -> bool:
    return stat.S_ISLNK((folder / path.decode("utf-8", "surrogateescape")).lstat().st_mode)
