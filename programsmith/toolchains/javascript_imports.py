"""What a JavaScript or TypeScript file imports of its own package, over and over. Read, never run.

In: the tree and a path. Out: the files that it comes to, and whether one is missing that a build would have to make.
Only relative names count: what a bare name means is the dependencies' business.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

SCRIPTS = (".js", ".cjs", ".mjs")
TYPED = (".ts", ".tsx", ".mts", ".cts", ".jsx")
ENDS = ("", *SCRIPTS, ".json", "/index.js", "/index.cjs", "/index.mjs")
TYPED_ENDS = (*TYPED, "/index.ts", "/index.tsx")
_COMMENT = re.compile(r"/\*.*?\*/|(?m:^\s*//.*$)", re.DOTALL)
_IMPORT = re.compile(
    r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\brequire\.resolve\s*\()\s*(["'])(\.{1,2}(?:/[^"'\n]*)?)\1"""
)
_GUARDED = re.compile(r"\btry\s*\{[^{}]*$")  # what a program tries to load may be absent
_LOOKS_BACK = 80


@dataclass(frozen=True, slots=True)
class Closure:
    """`files` in path order; `missing` are the relative names that no file of the tree answers."""

    files: tuple[FileEntry, ...]
    missing: tuple[str, ...]


def closure(tree: SourceTree, start: str) -> Closure:
    """The file at `start` and what it imports."""
    found: dict[str, FileEntry] = {}
    missing: list[str] = []
    due = [start]
    while due:
        name = due.pop()
        entry = resolve(tree, name)
        if entry is None:
            missing.append(name)
            continue
        path = entry.path.decode("utf-8", "surrogateescape")
        if path not in found:
            found[path] = entry
            due += relative_imports(entry) if path.endswith((*SCRIPTS, *TYPED)) or path == start else ()
    return Closure(tuple(sorted(found.values())), tuple(sorted(set(missing))))


def resolve(tree: SourceTree, name: str) -> FileEntry | None:
    """The file that a relative name means: as it stands, with a suffix, or an index; typed source stands for itself."""
    stem = name.rpartition(".")[0] if name.endswith(SCRIPTS) else name
    for path in (*(name + end for end in ENDS), *(stem + end for end in TYPED_ENDS)):
        entry = tree.get(path.encode("utf-8", "surrogateescape"))
        if entry is not None and entry.kind == "file":
            return entry
    return None


def relative_imports(entry: FileEntry) -> Iterator[str]:
    """Paths that a file imports relative to itself, normalised; those that leave the package are left out."""
    folder = posixpath.dirname(entry.path.decode("utf-8", "surrogateescape"))
    text = _COMMENT.sub("", entry.content.decode("utf-8", "replace"))
    for match in _IMPORT.finditer(text):
        inner = posixpath.normpath(posixpath.join(folder, match[2]))
        if not inner.startswith("..") and not _GUARDED.search(
            text[max(0, match.start() - _LOOKS_BACK) : match.start()]
        ):
            yield inner
