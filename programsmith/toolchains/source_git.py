"""A git repository for builds that ask git: one commit, fixed dates, nothing of upstream's history."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import Lock
from programsmith.sources.synthetic_git import synthetic_git
from programsmith.sources.tree import SourceTree

NOTE = "synthetic_git:"
NO_VERSION = "v0.0.0"


def asks_git(lock: Lock) -> bool:
    """Whether ingest saw that the build asks git."""
    return any(note.startswith(NOTE) for note in lock.notes)


def repository(source: SourceTree, lock: Lock) -> list[FileEntry]:
    """Entries of `.git` for a source, tagged with the version that ingest noted."""
    note = next(n for n in lock.notes if n.startswith(NOTE))
    version = note.removeprefix(NOTE).strip() or NO_VERSION
    with tempfile.TemporaryDirectory(prefix="git-") as folder:
        root = os.fsencode(folder)
        for entry in source:
            _write(root, entry)
        synthetic_git(Path(folder), version)
        return [_read(root, path) for path in _files(os.path.join(root, b".git"))]


def _write(root: bytes, entry: FileEntry) -> None:
    """Lay one entry down. The tree's paths are checked at ingest: relative, without `..`, none below a link."""
    path = os.path.join(root, entry.path)
    os.makedirs(path if entry.kind == "dir" else os.path.dirname(path), exist_ok=True)
    if entry.kind == "link":
        os.symlink(entry.content, path)
    elif entry.kind == "file":
        with open(path, "xb") as file:
            file.write(entry.content)
        os.chmod(path, entry.mode)


def _files(folder: bytes) -> list[bytes]:
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


def _read(root: bytes, path: bytes) -> FileEntry:
    with open(path, "rb") as file:
        return FileEntry(os.path.relpath(path, root), "file", 0o644, file.read())
