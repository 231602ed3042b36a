"""Dependencies of Go: `go mod vendor` over manifests and import clauses; nothing of the source is compiled or run.

In: a source with go.sum, which decides what a module's content must be. Out: entries of the vendor folder. Refused:
modules that no proxy has, replacements outside the tree, sums that are missing.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.clients import lay, no_lines, run_client, taken
from programsmith.toolchains.homes import home, home_program
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

SECONDS = 900.0
_REQUIRES = re.compile(rb"(?m)^require\b")
_NAMES = (b"go.mod", b"go.sum", b"go.work", b"go.work.sum")
_HEAD = re.compile(rb"\A.*?^(?=(?:func|var|const|type)\b)", re.DOTALL | re.MULTILINE)


def fetch_go(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """Entries below vendor/. Raises BuildRefusedError, InfraError where the proxy cannot be reached."""
    no_lines(request)
    manifests = [e for e in source.files() if e.path.rpartition(b"/")[2] in _NAMES]
    if source.below(b"vendor") or not any(_REQUIRES.search(e.content) for e in manifests):
        return ()
    workspace = source.get(b"go.work") is not None
    sums = [e for e in manifests if e.path.endswith(b".sum")]
    if not sums:
        raise BuildRefusedError(Word.UNBUILDABLE, "needs_network_build: go.mod requires modules and there is no go.sum")
    with scratch("fetch") as folder:
        tree = folder / "tree"
        lay(tree, [*manifests, *_imports(source)])
        environment = _environment(request, folder)
        go = home_program(request.toolchain, "go")
        for manifest in manifests:
            if manifest.path.endswith((b"go.mod", b"go.work")):
                _inside(manifest, tree, go, environment, request)
        words = [go, "work" if workspace else "mod", "vendor"]
        run_client(words, tree, environment, request, SECONDS)
        _unchanged(tree, sums)
        return tuple(taken(tree / "vendor", "vendor"))


def _imports(source: SourceTree) -> Iterator[FileEntry]:
    """Every Go file down to its first declaration: what says which packages are needed."""
    for e in source.files(b".go"):
        if b"/testdata/" not in b"/" + e.path:
            head = _HEAD.match(e.content)
            yield FileEntry(e.path, "file", 0o644, head[0] if head else e.content)


def _environment(request: BuildRequest, folder: Path) -> dict[str, str]:
    """No version control, no other toolchain, no settings of the user; what go.sum lacks is found out afterwards."""
    return {
        "GOROOT": home(request.toolchain),
        "GOPATH": str(folder / "path"),
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "-modcacherw",
        "GOENV": "off",
        "GOTOOLCHAIN": "local",
        "GOVCS": "*:off",
        "GOSUMDB": "off",
        "GOTELEMETRY": "off",
        "CGO_ENABLED": "0",
    }


def _inside(manifest: FileEntry, tree: Path, go: str, environment: dict[str, str], request: BuildRequest) -> None:
    """Refuse a replacement or a workspace's folder that lies outside the tree. Raises BuildRefusedError."""
    path = manifest.path.decode("utf-8", "surrogateescape")
    kind = "work" if path.endswith("go.work") else "mod"
    said = run_client([go, kind, "edit", "-json", path], tree, {**environment, "GOWORK": "off"}, request, SECONDS)
    for local in _folders(json.loads(said)):
        led = posixpath.normpath(posixpath.join(posixpath.dirname(path), local))
        if local.startswith("/") or led == ".." or led.startswith("../"):
            raise BuildRefusedError(
                Word.UNBUILDABLE, f"needs_network_build: {path} names {local!r}, which lies outside the source"
            )


def _folders(told: dict[str, Any]) -> Iterator[str]:
    for one in told.get("Use") or ():
        yield one["DiskPath"]
    for one in told.get("Replace") or ():
        if not one["New"].get("Version"):
            yield one["New"]["Path"]


def _unchanged(tree: Path, sums: list[FileEntry]) -> None:
    for entry in sums:
        name = entry.path.decode("utf-8", "surrogateescape")
        missing = set((tree / name).read_bytes().splitlines()) - set(entry.content.splitlines())
        if missing:
            first = min(missing).decode("ascii", "backslashreplace")
            raise BuildRefusedError(Word.UNBUILDABLE, f"needs_network_build: {name} lacks {first!r}")
