"""Commands of a Go source: folders whose files are `package main` with a function main. Read, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree

NOT_A_COMMAND = re.compile(
    rb"(.*/)?(tests?|testing|testdata|docs?|examples?|_examples|benchmarks?|tools?|scripts?|ci|hack|vendor|third_party"
    rb"|internal|[._][^/]*)/.*"
)
_COMMENTS = re.compile(rb"\A(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_MAIN = re.compile(rb"^func[ \t]+main[ \t]*\([ \t]*\)", re.MULTILINE)
_BUILD = re.compile(rb"^//go:build[ \t]+(.+)$|^// \+build[ \t]+(.+)$", re.MULTILINE)
_ABSENT = re.compile(rb"\b(ignore|windows|darwin|js|wasm|plan9|tools)\b")
_OTHER_SYSTEM = re.compile(
    rb".*_(windows|darwin|js|wasm|plan9|freebsd|netbsd|openbsd|solaris|aix|ios|android)(_\w+)?\.go"
)
_MODULE = re.compile(rb"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_VERSION = re.compile(r"v[0-9]+|.*\.v[0-9]+")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def go_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """One per folder of the root module that is a command, named as `go install` names it; `target` is the folder."""
    found: dict[str, EntryPoint] = {}
    nested = [folder for folder in _modules(tree) if folder and not _in_workspace(tree, folder)]
    for folder in sorted(_folders(tree), key=lambda f: (f.count("/"), f)):
        if any(f"{folder}/".startswith(f"{other}/") for other in nested):
            continue
        tool = folder.rpartition("/")[2] if folder != "." else _root_name(tree)
        if _NAME.fullmatch(tool):
            found.setdefault(
                tool, EntryPoint(tool=tool, kind="go-command", target=folder, how=f"package main in {folder}")
            )
    return list(found.values())


def _folders(tree: SourceTree) -> set[str]:
    found = set()
    for e in tree.files(b".go"):
        if not NOT_A_COMMAND.fullmatch(e.path) and is_built(e) and _is_main(e):
            found.add(e.path.rpartition(b"/")[0].decode("utf-8", "surrogateescape") or ".")
    return found


def package_of(content: bytes) -> str:
    """The name that a file's package clause gives; empty where there is none."""
    start = _COMMENTS.match(content)
    clause = re.compile(rb"package[ \t]+(\w+)").match(content, start.end() if start else 0)
    return clause[1].decode("ascii", "replace") if clause else ""


def is_built(e: FileEntry) -> bool:
    """Whether a plain build for Linux takes a file: no test, no other system's, not ignored."""
    if e.path.endswith(b"_test.go") or _OTHER_SYSTEM.fullmatch(e.path):
        return False
    head = e.content[: e.content.find(b"\npackage ") + 1] if not e.content.startswith(b"package ") else b""
    return not any(_excludes(one or other) for one, other in _BUILD.findall(head))


def _excludes(constraint: bytes) -> bool:
    """Whether a constraint wants what a plain build for Linux has not; `!windows` does not."""
    plain = re.sub(rb"!\s*\w+", b"", constraint)
    return b"linux" not in plain and b"unix" not in plain and _ABSENT.search(plain) is not None


def _is_main(e: FileEntry) -> bool:
    return package_of(e.content) == "main" and _MAIN.search(e.content) is not None


def _modules(tree: SourceTree) -> Iterator[str]:
    for e in tree.files(b"go.mod"):
        folder, _, name = e.path.rpartition(b"/")
        if name == b"go.mod":
            yield folder.decode("utf-8", "surrogateescape")


def _in_workspace(tree: SourceTree, folder: str) -> bool:
    work = tree.get(b"go.work")
    used = re.findall(rb"(?m)^[ \t]*(?:use[ \t]+)?\"?\./([^\s\")]+)", work.content) if work else []
    return folder.encode("utf-8", "surrogateescape") in {path.rstrip(b"/") for path in used}


def _root_name(tree: SourceTree) -> str:
    """The last part of the module's path that is no version."""
    manifest = tree.get(b"go.mod")
    found = _MODULE.search(manifest.content) if manifest else None
    parts = found[1].decode("utf-8", "replace").split("/") if found else []
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts[-1:] = [parts[-1].rpartition(".v")[0]] if ".v" in parts[-1] else []
    return parts[-1] if parts else ""
