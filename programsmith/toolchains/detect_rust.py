"""Commands of a Rust source: binaries of its root package and of its workspace's members. Read, never run."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from programsmith.records.lock import EntryPoint
from programsmith.sources.manifests import read_toml, table
from programsmith.sources.tree import SourceTree

_NOT_A_COMMAND = re.compile(r"(.*/)?(tests?|examples?|benches|fuzz|xtask|tools|scripts|ci|\.[^/]+)(/.*)?")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_MANIFEST = "Cargo.toml"


def rust_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """One per binary that default features build; `target` is the folder of its package's manifest."""
    found: dict[str, EntryPoint] = {}
    for folder in packages(tree):
        for tool, path in _binaries(tree, folder):
            if _NAME.fullmatch(tool) and not _NOT_A_COMMAND.fullmatch(folder):
                entry = EntryPoint(tool=tool, kind="rust-binary", target=folder, how=f"{_MANIFEST} of {folder}: {path}")
                found.setdefault(tool, entry)
    return list(found.values())


def packages(tree: SourceTree) -> list[str]:
    """Folders of the packages that a build at the root knows, the root's own first."""
    root = manifest(tree, ".")
    own = ["."] if "package" in root else []
    workspace = table(root, "workspace")
    patterns = [p for p in _texts(workspace.get("members")) if p != "."]
    left = [posixpath.normpath(p) for p in _texts(workspace.get("exclude"))]
    folders = {os.fsdecode(e.path.rpartition(b"/")[0]) for e in tree.files(b"/" + _MANIFEST.encode())}
    members = {f for f in folders for p in patterns if _matches(f, posixpath.normpath(p))}
    members |= {f for f in _path_dependencies(root) if f in folders} if "workspace" in root else set()
    return own + sorted(m for m in members if m not in left and "package" in manifest(tree, m))


def manifest(tree: SourceTree, folder: str) -> dict[str, Any]:
    """The manifest in a folder; empty where there is none that can be read."""
    entry = tree.get(os.fsencode(posixpath.normpath(posixpath.join(folder, _MANIFEST))))
    return read_toml(entry.content) if entry and entry.kind == "file" else {}


def _matches(folder: str, pattern: str) -> bool:
    """A member's pattern part by part: a star of it crosses no slash."""
    parts, wanted = folder.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _path_dependencies(root: dict[str, Any]) -> Iterator[str]:
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        for value in table(root, kind).values():
            if isinstance(value, dict) and isinstance(value.get("path"), str):
                yield posixpath.normpath(value["path"])


def _texts(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _binaries(tree: SourceTree, folder: str) -> Iterator[tuple[str, str]]:
    """(name, path of the main file below the package) of each binary."""
    whole = manifest(tree, folder)
    package = table(whole, "package")
    on = _default_features(table(whole, "features"))
    taken = set()
    declared = whole.get("bin")
    for one in declared if isinstance(declared, list) else []:
        name = one.get("name") if isinstance(one, dict) else None
        if isinstance(name, str):
            path = one.get("path") or _usual(tree, folder, name, str(package.get("name")))
            taken |= {name, path}
            if path and _has(tree, folder, str(path)) and set(_texts(one.get("required-features"))) <= on:
                yield name, str(path)
    if package.get("autobins") is not False:
        yield from ((name, path) for name, path in _found(tree, folder, package) if not {name, path} & taken)


def _usual(tree: SourceTree, folder: str, name: str, package: str) -> str:
    paths = [f"src/bin/{name}.rs", f"src/bin/{name}/main.rs", *(["src/main.rs"] if name == package else [])]
    return next((path for path in (*paths, "src/main.rs") if _has(tree, folder, path)), "")


def _found(tree: SourceTree, folder: str, package: dict[str, Any]) -> Iterator[tuple[str, str]]:
    name = package.get("name")
    if isinstance(name, str) and _has(tree, folder, "src/main.rs"):
        yield name, "src/main.rs"
    base = os.fsencode(posixpath.normpath(posixpath.join(folder, "src/bin"))) + b"/"
    for e in tree.files(b".rs"):
        inner = os.fsdecode(e.path.removeprefix(base)) if e.path.startswith(base) else ""
        if inner and "/" not in inner:
            yield inner.removesuffix(".rs"), f"src/bin/{inner}"
        elif inner.count("/") == 1 and inner.endswith("/main.rs"):
            yield inner.split("/")[0], f"src/bin/{inner}"


def _has(tree: SourceTree, folder: str, path: str) -> bool:
    entry = tree.get(os.fsencode(posixpath.normpath(posixpath.join(folder, path))))
    return entry is not None and entry.kind == "file"


def _default_features(features: dict[str, Any]) -> set[str]:
    """Names of the features that are on by default, over and over."""
    on: set[str] = set()
    due = ["default"]
    while due:
        name = due.pop()
        if name not in on:
            on.add(name)
            due += _texts(features.get(name))
    return on
