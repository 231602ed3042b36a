"""Which files of a source are tests, and which of them a call came from."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable

from programsmith.miners.base import name_of
from programsmith.miners.recording.log import Call
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

FOLDER = re.compile(rb"(^|/)(tests?|t|spec|testsuite|regress\w*|check|testing|integration\w*)(/|$)", re.IGNORECASE)
_AWAY = re.compile(rb"(^|/)(vendor|third_party|node_modules|\.git|external|deps)(/|$)")


def own_files(source: SourceTree) -> list[FileEntry]:
    """Regular files that are not somebody else's, in path order."""
    return [e for e in source.files() if not _AWAY.search(e.path)]


def in_test_folder(entry: FileEntry) -> bool:
    """Whether a file lies where tests lie."""
    return FOLDER.search(posixpath.dirname(entry.path)) is not None


def mentions(entry: FileEntry, tool: str) -> bool:
    """Whether a text names the tool."""
    return (
        re.search(rb"(?<![A-Za-z0-9])" + re.escape(os.fsencode(tool)) + rb"(?![A-Za-z0-9])", entry.content) is not None
    )


def test_among_parents(call: Call, known: Iterable[bytes], root: bytes) -> bytes | None:
    """The nearest parent's script that is a file of the source."""
    paths = set(known)
    by_name = {name_of(p): p for p in paths}
    for line in call.parents:
        for word in line.split(b"\0")[:4]:
            if b" " in word or b"\n" in word:
                continue  # a command, not a path
            path = posixpath.normpath(word)
            inner = path[len(root) + 1 :] if path.startswith(root + b"/") else path
            if inner in paths:
                return inner
            if name_of(path) in by_name and b"." in name_of(path):
                return by_name[name_of(path)]
    return None


def line_of(entry: FileEntry, text: bytes) -> int:
    """The first line that holds `text`, counted from 1; 0 where none does."""
    at = entry.content.find(text) if text else -1
    return entry.content.count(b"\n", 0, at) + 1 if at >= 0 else 0
