"""Which files a case needs: words of its command that name files of the tree, laid at the same relative path."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from programsmith.miners.base import MineLimits, Skip
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

_QUOTED = re.compile(rb"[\"'<(]([\w][\w./+-]{0,99})[\"'>)]")
_SCANNED = 64 << 10  # bytes of a file in which names are looked for
_NAMES = 400  # names that are looked up for one case: a text may quote more of them than it has lines


def ancestors(folder: bytes) -> tuple[bytes, ...]:
    """`folder` and every folder above it up to the root (the empty name)."""
    out = [folder]
    while folder:
        folder = folder.rpartition(b"/")[0]
        out.append(folder)
    return tuple(out)


class Fixtures:
    """Finds the files that words name, seen from several starting folders (the nearest wins)."""

    def __init__(self, tree: SourceTree, limits: MineLimits) -> None:
        self._tree = tree
        self._limits = limits
        self._folders: dict[bytes, list[FileEntry]] = {}
        self._stems: dict[bytes, list[FileEntry]] = {}
        for entry in tree:
            if entry.kind == "file":
                for folder in ancestors(entry.path.rpartition(b"/")[0]):
                    self._folders.setdefault(folder, []).append(entry)
                self._stems.setdefault(_stem(entry.path), []).append(entry)

    def read(self, word: bytes, bases: Sequence[bytes]) -> bytes:
        """The content of the file that `word` names. Raises Skip `missing_file`."""
        for base in bases:
            entry = self._tree.get(_join(base, word))
            if entry is not None and entry.kind == "file":
                return entry.content
        raise Skip("missing_file")

    def named_by(self, argv: Iterable[bytes], bases: Sequence[bytes]) -> dict[bytes, FileEntry]:
        """Files named by words of `argv`, by the path at which they are laid. Raises Skip."""
        found: dict[bytes, FileEntry] = {}
        for word in argv:
            for name in (word, word.partition(b"=")[2]):
                found.update(self._one(name, bases))
        self.check(found.values())
        return found

    def quoted_in(self, entry: FileEntry, stem: bytes, told: tuple[bytes, ...]) -> dict[bytes, FileEntry]:
        """Files below the entry's folder that its text quotes, and those that they quote, by where they are laid.

        A program that reads the entry there may read them too. What is named after `stem`, in whatever folder, or ends
        as one of `told` does is left out: it may be what should come out, here or in a test of the other side. Never
        raises; what exceeds the caps is left out whole.
        """
        folder, found, rest = entry.path.rpartition(b"/")[0], dict[bytes, FileEntry](), _NAMES
        due = [(b"", entry.content)]
        while due and rest > 0 and len(found) <= self._limits.fixture_files:
            inner, text = due.pop()
            names = list(dict.fromkeys(_QUOTED.findall(text[:_SCANNED])))[:rest]
            rest -= len(names)
            for name in names:
                at, hit = self._quoted(name, folder, inner)
                if hit is None or at in found or at.endswith(told) or posixpath.basename(at).startswith(stem + b"."):
                    continue
                found[at] = hit
                due.append((posixpath.dirname(at), hit.content))
        try:
            self.check(found.values())
        except Skip:
            return {}
        return found

    def _quoted(self, name: bytes, folder: bytes, inner: bytes) -> tuple[bytes, FileEntry | None]:
        """The one file that a name means below a folder, seen from there or from a folder in it."""
        for base in dict.fromkeys((inner, b"")):
            clean = posixpath.normpath(posixpath.join(base, name))
            hits = {} if clean.startswith(b"..") else self._at(_join(folder, clean), clean)
            if len(hits) == 1:
                return next(iter(hits.items()))
        return b"", None

    def check(self, entries: Iterable[FileEntry]) -> None:
        """Raises Skip `fixture_too_large` where the entries exceed the caps."""
        entries = list(entries)
        if len(entries) > self._limits.fixture_files:
            raise Skip("fixture_too_large")
        if sum(len(e.content) for e in entries) > self._limits.fixture_bytes:
            raise Skip("fixture_too_large")

    def _one(self, name: bytes, bases: Sequence[bytes]) -> dict[bytes, FileEntry]:
        if not name or name.startswith(b"-") or b"\0" in name:
            return {}
        clean = posixpath.normpath(name)
        for base in bases:
            hit = self._at(_join(base, name), clean)
            if hit:
                if clean.startswith((b"/", b"..")):
                    raise Skip("outside_path")
                return hit
        return {}

    def _at(self, path: bytes, clean: bytes) -> dict[bytes, FileEntry]:
        """Entries for what lies at `path`: a file, a folder's files, or the one file that only adds a suffix."""
        entry = self._tree.get(path)
        if entry is not None and entry.kind == "file":
            return {clean: laid(entry, clean)}
        if clean in (b".", b".."):
            return {}
        if path in self._folders and path:
            return {
                clean + e.path[len(path) :]: laid(e, clean + e.path[len(path) :])
                for e in self._folders[path][: self._limits.fixture_files + 1]
            }
        only = self._stems.get(path, []) if b"/" in clean else []
        return {clean + e.path[len(path) :]: laid(e, clean + e.path[len(path) :]) for e in only if len(only) == 1}


def laid(entry: FileEntry, at: bytes) -> FileEntry:
    """The entry as a fixture at another path, with one of the two modes that matter."""
    return FileEntry(at, "file", 0o755 if entry.mode & 0o100 else 0o644, entry.content)


def _stem(path: bytes) -> bytes:
    folder, slash, name = path.rpartition(b"/")
    return folder + slash + (name.rpartition(b".")[0] or name)


def _join(base: bytes, name: bytes) -> bytes:
    """Where `name` seen from `base` lies in the tree; a path above the root matches nothing."""
    return posixpath.normpath(posixpath.join(base, name)) if base else posixpath.normpath(name)
