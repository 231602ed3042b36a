"""What a source is: its language, build system, code lines and the commands that it builds.

In: the tree, the toolchains rule. Out: Detected. Refused: no code, a language without a toolchain, no build system, a
library without a command.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.origin import RefusedError
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_c import c_entry_points, cpp_entry_points
from programsmith.toolchains.detect_cmake import CMAKE, MESON
from programsmith.toolchains.detect_go import go_entry_points
from programsmith.toolchains.detect_java import java_entry_points
from programsmith.toolchains.detect_javascript import javascript_entry_points
from programsmith.toolchains.detect_python import python_entry_points
from programsmith.toolchains.detect_rust import rust_entry_points
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain

NO_PROGRAM = re.compile(
    rb"(.*/)?(tests?|testing|testsuite|t|testdata|examples?|docs?|benchmarks?|benches|vendor|third_party)/.*|.*_test\.go"
)
ASKS_GIT = re.compile(
    rb"\bgit\b[^\n;|&]{0,40}\b(describe|rev-parse|rev-list|log|show)\b|setuptools_scm|hatch-vcs|versioneer"
)
BUILD_NAMES = re.compile(
    rb"(.*/)?(GNUmakefile|[Mm]akefile(\.\w+)?|configure(\.\w+)?|.*\.(ac|am|m4|mk|cmake)|CMakeLists\.txt|setup\.(py|cfg)"
    rb"|pyproject\.toml|[^/]*version[^/]*)",
)
GENERATORS = {"cmake": CMAKE, "meson": MESON}  # build systems whose programs are a kind of entry point of their own
BUILD_FILE_BYTES = 1 << 18
SHEBANGS = ((b"python", "python"), (b"node", "javascript"))
PROSE = (b".md", b".rst", b".txt", b".html")
ENTRY_POINTS: dict[str, Callable[[SourceTree], list[EntryPoint]]] = {
    "c": c_entry_points,
    "cpp": cpp_entry_points,
    "java": java_entry_points,
    "javascript": javascript_entry_points,
    "go": go_entry_points,
    "python": python_entry_points,
    "rust": rust_entry_points,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a source is. `code_lines` counts non-blank lines of the language outside tests, docs and vendored parts."""

    language: str
    build_system: str
    code_lines: int
    entry_points: tuple[EntryPoint, ...]
    notes: tuple[str, ...]


def detect(tree: SourceTree, rule: Mapping[str, Any]) -> Detected:
    """What the source is. Raises RefusedError `no_code`, `no_toolchain`, `no_build_system`, `no_entry_point`."""
    known = toolchains(rule)
    suffixes = {name: tc.suffixes for name, tc in known.items()} | {n: tuple(s) for n, s in rule["elsewhere"].items()}
    lines = _lines(tree, suffixes)
    if not any(lines.values()):
        raise RefusedError("no_code", "no file of a programming language outside tests and documentation")
    language = max(lines, key=lambda name: lines[name])
    if language not in known:
        raise RefusedError("no_toolchain", f"it is mostly {language} ({lines[language]} lines), which has no toolchain")
    entries = ENTRY_POINTS[language](tree)
    system = _build_system(tree, known[language], entries)
    if not entries:
        raise RefusedError("no_entry_point", f"a {language} library: nothing in it declares or is a command")
    return Detected(
        language=language,
        build_system=system,
        code_lines=lines[language],
        entry_points=tuple(entries),
        notes=tuple(_git_notes(tree)),
    )


def _lines(tree: SourceTree, suffixes: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Non-blank lines per language; a script without suffix counts for the interpreter that it names.

    What several languages share (headers of C and C++) counts for that which has more of its own.
    """
    own = {s.encode(): [n for n, found in suffixes.items() if s in found] for every in suffixes.values() for s in every}
    counts, shared = dict.fromkeys(suffixes, 0), Counter[tuple[str, ...]]()
    for e in tree.files():
        if NO_PROGRAM.fullmatch(e.path):
            continue
        languages = own.get(_suffix(e.path)) or [_shebang(e)]
        if languages[0] in counts:
            shared[tuple(languages)] += sum(1 for line in e.content.splitlines() if line.strip())
    for among, found in sorted(shared.items(), key=lambda item: len(item[0])):
        counts[max(among, key=lambda name: counts[name])] += found
    return counts


def _suffix(path: bytes) -> bytes:
    name = path.rpartition(b"/")[2]
    return b"." + name.rpartition(b".")[2] if b"." in name else b""


def _shebang(e: FileEntry) -> str:
    first = e.content[:128].split(b"\n", 1)[0]
    if not first.startswith(b"#!"):
        return ""
    return next((name for word, name in SHEBANGS if word in first), "shell")


def _build_system(tree: SourceTree, tc: Toolchain, entries: Sequence[EntryPoint]) -> str:
    """The first build system, in the rule's order, with one of its files at the root, that builds the entries."""
    kinds = {e.kind for e in entries} & set(GENERATORS.values())
    for name, system in tc.build_systems.items():
        builds = not entries or (GENERATORS[name] in kinds if name in GENERATORS else not kinds)
        if builds and any(tree.get(f.encode()) for f in system.files):
            return name
    if entries and not tc.compiled:
        return next(iter(tc.build_systems))
    wanted = ", ".join(f for system in tc.build_systems.values() for f in system.files)
    raise RefusedError(
        "no_build_system", f"wanted one of {wanted} at the root, found none; source.subdir can move the root"
    )


def _git_notes(tree: SourceTree) -> list[str]:
    """One `synthetic_git: <path>` note per build file that asks git for a version."""
    return [
        f"synthetic_git: {e.path.decode('utf-8', 'backslashreplace')}"
        for e in tree.files()
        if len(e.content) <= BUILD_FILE_BYTES
        and not e.path.endswith(PROSE)
        and BUILD_NAMES.fullmatch(e.path)
        and ASKS_GIT.search(e.content)
    ]
