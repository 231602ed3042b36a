"""Dependencies of Rust: `cargo vendor` over manifests and the lock file; no build script, no setting of the tree.

In: a source with Cargo.lock, which decides what a crate's content must be. Out: entries of a folder of crates, those
that only other systems need as their manifests alone. Refused: a missing lock, sources other than the public registry,
paths outside the tree.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.manifests import read_toml
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.clients import lay, no_lines, run_client, taken
from programsmith.toolchains.homes import home_program
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

SECONDS = 900.0
FOLDER = "vendor/registry"
REGISTRIES = frozenset({"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"})
_SUMS = ".cargo-checksum.json"
_PATHS = ("path", "workspace", "build", "members", "default-members", "exclude")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def fetch_cargo(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """Entries below vendor/registry/. Raises BuildRefusedError, InfraError where the registry cannot be reached."""
    no_lines(request)
    manifests = [e for e in source.files() if e.path.rpartition(b"/")[2] == b"Cargo.toml"]
    for manifest in manifests:
        _inside(manifest)
    lock = source.get(b"Cargo.lock")
    if lock is None:
        if any(_foreign(read_toml(e.content)) for e in manifests):
            raise _no("there is no Cargo.lock, and a manifest declares dependencies")
        return ()
    if not any(_registries(read_toml(lock.content))):
        return ()
    with scratch("fetch") as folder:
        tree = folder / "tree"
        names = [FileEntry(e.path, "file", 0o644, b"") for e in source.files(b".rs")]
        lay(tree, [*manifests, lock, *names])
        return tuple(_vendored(folder, tree, request))


def _vendored(folder: Path, tree: Path, request: BuildRequest) -> Iterator[FileEntry]:
    cargo = home_program(request.toolchain, "cargo")
    rustc = home_program(request.toolchain, "rustc")
    environment = {"CARGO_HOME": str(folder / "cargo"), "CARGO_TERM_COLOR": "never", "RUSTC": rustc}
    run_client([cargo, "vendor", *_options(request), str(folder / "crates")], tree, environment, request, SECONDS)
    host = _host(run_client([rustc, "-vV"], tree, environment, request, SECONDS))
    words = [cargo, "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host]
    told = json.loads(run_client(words, tree, environment, request, SECONDS))
    needed = {f"{p['name']}-{p['version']}" for p in told["packages"]}
    for crate in sorted(os.listdir(folder / "crates")):
        entries = taken(folder / "crates" / crate, f"{FOLDER}/{crate}")
        yield from entries if crate in needed else _bare(entries, f"{FOLDER}/{crate}")


def _options(request: BuildRequest) -> tuple[str, ...]:
    return request.toolchain.fetch.options if request.toolchain.fetch else ()


def _host(said: bytes) -> str:
    return next(line[6:].decode("ascii") for line in said.splitlines() if line.startswith(b"host: "))


def _bare(entries: list[FileEntry], at: str) -> Iterator[FileEntry]:
    """A crate that only other systems build: the client wants its manifest, and a library that is never compiled."""
    by_path = {os.fsdecode(e.path).removeprefix(at + "/"): e for e in entries}
    sums = json.loads(by_path[_SUMS].content)
    library = read_toml(by_path["Cargo.toml"].content).get("lib", {}).get("path", "src/lib.rs")
    yield by_path["Cargo.toml"]
    yield FileEntry(f"{at}/{library}".encode(), "file", 0o644, b"")
    text = json.dumps({"files": {}, "package": sums["package"]}).encode()
    yield FileEntry(f"{at}/{_SUMS}".encode(), "file", 0o644, text)


def _no(why: str) -> BuildRefusedError:
    return BuildRefusedError(Word.UNBUILDABLE, f"needs_network_build: {why}")


def _registries(lock: dict[str, Any]) -> Iterator[str]:
    """Where the locked packages come from; none for the tree's own. Raises BuildRefusedError for another registry."""
    for package in lock.get("package", ()):
        origin = package.get("source") if isinstance(package, dict) else None
        if origin is not None and origin not in REGISTRIES:
            raise _no(f"Cargo.lock takes {package.get('name')!r} from {origin!r}, which is no public registry")
        if origin is not None:
            yield origin


def _foreign(manifest: dict[str, Any]) -> bool:
    """Whether a manifest declares a dependency that is no folder of the tree."""
    for kind in _DEPENDENCIES:
        for value in (manifest.get(kind) or {}).values():
            if not (isinstance(value, dict) and ("path" in value or value.get("workspace"))):
                return True
    return any(_foreign(v) for v in manifest.values() if isinstance(v, dict))


def _inside(manifest: FileEntry) -> None:
    """Refuse a manifest that names a place outside the tree. Raises BuildRefusedError."""
    path = os.fsdecode(manifest.path)
    for local in _named(read_toml(manifest.content)):
        led = posixpath.normpath(posixpath.join(posixpath.dirname(path), local))
        if local.startswith("/") or led == ".." or led.startswith("../"):
            raise _no(f"{path} names {local!r}, which lies outside the source")


def _named(value: Any) -> Iterator[str]:
    """Every text under a key that cargo takes for a path."""
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            for key, inner in node.items():
                texts = inner if isinstance(inner, list) else [inner]
                if key in _PATHS:
                    yield from (t for t in texts if isinstance(t, str))
                todo.append(inner)
        elif isinstance(node, list):
            todo.extend(node)
