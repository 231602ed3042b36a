"""A git repository for builds that ask git: one commit, fixed dates, of upstream's history its tag's name alone."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import Lock
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.synthetic_git import synthetic_git
from programsmith.sources.tree import SourceTree

NOTE, TAG = "synthetic_git:", "tag: "
NO_VERSION = "0.0.0"
STATEMENTS = (
    (b"VERSION", rb"\s*v?(\d[\w.]*)\s*"),
    (b"configure.ac", rb"AC_INIT\(\s*\[?[^,\]]*\]?\s*,\s*\[?v?(\d[\w.]*)"),
    (b"pyproject.toml", rb"(?m)^version\s*=\s*[\"'](\d[\w.]*)"),
    (b"Makefile", rb"(?m)^VERSION\s*[:?]?=\s*v?(\d[\w.]*)"),
)


def asks_git(lock: Lock) -> bool:
    """Whether ingest saw that the build asks git."""
    return any(note.startswith(NOTE) for note in lock.notes)


def tag_notes(tag: str, notes: Sequence[str]) -> list[str]:
    """What ingest notes of a tag that was asked for, where the build asks git."""
    return [TAG + tag] if tag and any(note.startswith(NOTE) for note in notes) else []


def repository(source: SourceTree, lock: Lock) -> list[FileEntry]:
    """Entries of `.git` for a source: one commit under its own tag, else one of the version that the source states."""
    with scratch("git") as folder:
        root = os.fsencode(folder)
        for entry in source:
            _write(root, entry)
        tag = next((note.removeprefix(TAG) for note in lock.notes if note.startswith(TAG)), "")
        synthetic_git(folder, tag or stated_version(source))
        return [_read(root, path) for path in _files(os.path.join(root, b".git"))]


def stated_version(source: SourceTree) -> str:
    """The tag for a source: `v` and the version that one of its files states."""
    for path, pattern in STATEMENTS:
        entry = source.get(path)
        found = re.search(pattern, entry.content) if entry else None
        if found:
            return "v" + found[1].decode("ascii", "replace")
    return "v" + NO_VERSION


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
