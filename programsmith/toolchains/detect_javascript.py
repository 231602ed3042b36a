"""Commands of a JavaScript or TypeScript source: the `bin` of its package.json, else scripts that node runs.

In: the tree. Out: entry points. Read, never run. A `bin` that is not in the source counts where the package has a build
that can make it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.javascript_imports import SCRIPTS, closure
from programsmith.toolchains.javascript_manifest import TOOL, TYPESCRIPT, build_script, commands, manifest

SCRIPT, BUILT = "node-script", "node-built"  # as it lies in the source; made by the package's own build
SHEBANG = re.compile(rb"#![^\n]*\bnode\b")
NOT_A_COMMAND = re.compile(
    rb"(.*/)?(tests?|__tests__|testing|docs?|examples?|benchmarks?|tools|scripts|ci|node_modules|dist|\.[^/]+)/.*"
)


def javascript_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Declared commands; where none is declared, scripts whose first line names node."""
    builds = has_build(tree)
    declared = [
        EntryPoint(
            tool=tool, kind=BUILT if builds and not _whole(tree, path) else SCRIPT, target=path, how="package.json bin"
        )
        for tool, path in commands(manifest(tree))
        if builds or _file(tree, path)
    ]
    return declared or list(_scripts(tree))


def has_build(tree: SourceTree) -> bool:
    """Whether the package says how what it publishes is made."""
    return bool(build_script(manifest(tree))) or tree.get(TYPESCRIPT) is not None


def _whole(tree: SourceTree, path: str) -> bool:
    """Whether the command and all that it imports lie in the source as node reads them."""
    made = closure(tree, path)
    return not made.missing and all(_read_by_node(e.path) for e in made.files)


def _read_by_node(path: bytes) -> bool:
    return path.endswith((*(s.encode() for s in SCRIPTS), b".json")) or b"." not in path.rpartition(b"/")[2]


def _file(tree: SourceTree, path: str) -> bool:
    entry = tree.get(path.encode("utf-8", "surrogateescape"))
    return entry is not None and entry.kind == "file"


def _scripts(tree: SourceTree) -> Iterator[EntryPoint]:
    for e in tree.files():
        name = e.path.rpartition(b"/")[2]
        if NOT_A_COMMAND.fullmatch(e.path) or not SHEBANG.match(e.content[:128]):
            continue
        if not (e.mode & 0o100 or b"." not in name):
            continue
        try:
            path = e.path.decode("utf-8")
        except UnicodeDecodeError:
            continue
        tool = re.sub(r"\.[cm]?js$", "", path.rpartition("/")[2])
        if TOOL.fullmatch(tool):
            yield EntryPoint(tool=tool, kind=SCRIPT, target=path, how="shebang")
