"""Files of a Go or Rust command: packages that it imports, or depends on by path, over and over. Read, never run."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.manifests import table
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_go import is_built
from programsmith.toolchains.detect_rust import manifest

_MODULE = re.compile(rb"(?m)^module[ \t]+\"?([^\s\"]+)")
_QUOTED = re.compile(rb"\"([^\"\n]+)\"")
_IMPORTS = re.compile(rb"(?m)^import[ \t]*(?:\(([^)]*)\)|([^\n(]+))")
_NO_PROGRAM = ("tests/", "benches/", "examples/", "fuzz/")


def go_files(tree: SourceTree, entry: EntryPoint) -> list[FileEntry]:
    """Files of the command's folder and of every folder of the tree that those found import."""
    modules = dict(_modules(tree))
    found: dict[str, list[FileEntry]] = {}
    by_folder: dict[str, list[FileEntry]] = {}
    for e in tree.files(b".go"):
        if is_built(e):
            by_folder.setdefault(os.fsdecode(e.path.rpartition(b"/")[0]) or ".", []).append(e)
    due = [posixpath.normpath(entry.target)]
    while due:
        folder = due.pop()
        if folder not in found:
            found[folder] = by_folder.get(folder, [])
            due += [f for e in found[folder] for f in _imported(e, modules)]
    return sorted(e for files in found.values() for e in files)


def _modules(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """(module path, folder) of every module of the tree."""
    for e in tree.files(b"go.mod"):
        folder, _, name = os.fsdecode(e.path).rpartition("/")
        path = _MODULE.search(e.content)
        if name == "go.mod" and path:
            yield os.fsdecode(path[1]), folder or "."


def _imported(e: FileEntry, modules: dict[str, str]) -> Iterator[str]:
    for many, one in _IMPORTS.findall(e.content):
        for quoted in _QUOTED.findall(many or one):
            path = os.fsdecode(quoted)
            for module, folder in modules.items():
                if path == module or path.startswith(module + "/"):
                    yield posixpath.normpath(posixpath.join(folder, path[len(module) + 1 :]))


def rust_files(tree: SourceTree, entry: EntryPoint) -> list[FileEntry]:
    """Files of the command's package and of the packages of the tree that it depends on."""
    root = manifest(tree, ".")
    folders = [os.fsdecode(e.path.rpartition(b"/")[0]) or "." for e in tree.files(b"Cargo.toml")]
    found: list[str] = []
    due = [posixpath.normpath(entry.target)]
    while due:
        folder = due.pop()
        if folder not in found and folder in folders:
            found.append(folder)
            due += [
                posixpath.normpath(posixpath.join(at, path))
                for at, path in _paths(root, manifest(tree, folder), folder)
            ]
    return sorted(e for folder in found for e in _of_package(tree, folder, folders))


def _paths(root: dict[str, object], own: dict[str, object], folder: str) -> Iterator[tuple[str, str]]:
    """(folder that it is relative to, path) of every dependency of a package that lies in the tree."""
    shared = table(root, "workspace", "dependencies")
    for name, value in table(own, "dependencies").items():
        stated, at = value, folder
        if isinstance(value, dict) and value.get("workspace") is True:
            stated, at = shared.get(name), "."
        if isinstance(stated, dict) and isinstance(stated.get("path"), str):
            yield at, stated["path"]


def _of_package(tree: SourceTree, folder: str, folders: list[str]) -> Iterator[FileEntry]:
    inner = [f"{f}/" for f in folders if f not in (folder, ".") and (folder == "." or f.startswith(folder + "/"))]
    base = "" if folder == "." else folder + "/"
    for e in tree.files(b".rs"):
        path = os.fsdecode(e.path)
        own = path.removeprefix(base)
        mine = path.startswith(base) and not path.startswith(tuple(inner))
        if mine and not own.startswith(_NO_PROGRAM) and own != "build.rs":
            yield e
