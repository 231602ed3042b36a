"""Lines of Go and Rust cases: a build whose statements count in a shared table, read after each run.

The compilers' own counters are lost where a program crashes, and need tools that distributions leave out; a table in
a mapped file needs neither. A file that does not build with calls in it is built without, and has no lines then.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import programsmith.payload.coverage as payload
from programsmith.goldens.strength.places import probed
from programsmith.goldens.strength.subject import Bench
from programsmith.payload.verifier.environment import WORK
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.detect_go import package_of
from programsmith.toolchains.model import Flavour, Step
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest
from programsmith.toolchains.scope import scope_of

TABLE = ".programsmith-hits"
NAMED = re.compile(r"(?:^|[\s(])(?:\./)?([\w./+-]+\.(?:go|rs)):\d+")
EDITION = re.compile(rb"(?m)^\s*edition\s*=\s*\"20(?:2[4-9]|[3-9]\d)\"")  # of which foreign functions are unsafe
ROUNDS = 8  # builds that may each name files which do not take calls


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a language needs besides calls: files, and commands before its build."""

    files: tuple[FileEntry, ...]
    steps: tuple[Step, ...] = ()


def _go_runtime(files: Mapping[str, bytes], places: int) -> Runtime:
    """One file per package, since a package of ours would need a place in everybody's module."""
    text = (Path(payload.__file__).parent / "hits.go").read_bytes()
    text = text.replace(b"programsmithHits = 1", b"programsmithHits = %d" % max(1, places))
    names: dict[str, Counter[str]] = {}
    for path, content in files.items():
        names.setdefault(os.path.dirname(path), Counter())[package_of(content)] += 1
    made = []
    for folder, found in names.items():
        package = found.most_common(1)[0][0].encode()
        path = os.path.join(folder, "programsmith_hits.go")
        made.append(
            FileEntry(os.fsencode(path), "file", 0o644, text.replace(b"package hits", b"package " + package, 1))
        )
    return Runtime(tuple(made))


def _rust_runtime(_files: Mapping[str, bytes], places: int) -> Runtime:
    """An object that every link takes in: crates need no name for it."""
    text = (Path(payload.__file__).parent / "hits.rs").read_bytes()
    text = text.replace(b"HITS: usize = 1", b"HITS: usize = %d" % max(1, places))
    source = FileEntry(b".programsmith/hits.rs", "file", 0o644, text)
    how = ("--edition=2021", "--crate-type=lib", "-O", "-Cpanic=abort", "-Ccodegen-units=1")
    made = ("--emit=obj=.programsmith/hits.o", ".programsmith/hits.rs")
    return Runtime((source,), (Step(run=("rustc", *how, *made)),))


RUNTIMES: dict[str, Callable[[Mapping[str, bytes], int], Runtime]] = {"go": _go_runtime, "rust": _rust_runtime}


class Hits:
    """The reader of lines for languages whose statements can be made to call."""

    def __init__(self, bench: Bench, source: SourceTree, request: BuildRequest) -> None:
        self._bench = bench
        request = replace(request, flavour=Flavour.COVERAGE)
        language, entry = request.toolchain.language, request.entry
        inside = scope_of(source, entry, language, request.toolchain.suffixes).files
        left = {path.decode("utf-8", "surrogateescape") for path in inside}
        for _ in range(ROUNDS):
            self._lines: list[frozenset[str]] = []
            try:
                self._coverage = Workspace.open(*self._with_calls(source, request, left))
                break
            except BuildRefusedError as refused:
                named = _named(refused, left)
                if not named:
                    raise
                left -= named
        else:
            self._coverage = Workspace.open(*self._with_calls(source, request, set()))

    def _with_calls(self, source: SourceTree, request: BuildRequest, left: set[str]) -> tuple[SourceTree, BuildRequest]:
        """The source with calls in these files, and the request that builds it."""
        self._lines = []
        language = request.toolchain.language
        newer = any(EDITION.search(e.content) for e in source.files(b"Cargo.toml"))
        before: dict[str, bytes] = {}
        entries = {e.path: e for e in source}
        for path in sorted(left):
            entry = entries[path.encode("utf-8", "surrogateescape")]
            made = probed(entry.content, language, len(self._lines), newer=newer)
            if made.lines:
                before[path] = entry.content
                entries[entry.path] = replace(entry, content=made.content)
                self._lines += [frozenset(f"{path}:{n}" for n in found) for found in made.lines]
        runtime = RUNTIMES[language](before, len(self._lines))
        entries.update({e.path: e for e in runtime.files})
        return SourceTree(entries.values()), _stepped(request, runtime.steps)

    def counted(self, case: Case) -> dict[str, int]:
        """Run the build with calls; the lines of the places that it counted, up to 255 times each."""
        request = self._bench.request(case, self._coverage.tree)
        told = (b"PROGRAMSMITH_HITS", f"{WORK}/{TABLE}".encode())
        result = self._bench.launcher.run(replace(request, env=(*request.env, told)))
        table = next((f.content for f in result.files or () if f.path == TABLE.encode() and f.kind == "file"), b"")
        counted: dict[str, int] = {}
        for lines, count in zip(self._lines, table, strict=False):
            if count:
                counted.update((line, max(count, counted.get(line, 0))) for line in lines)
        return counted

    def scope_lines(self) -> int:
        """Lines of all places, whether any case marks them or not."""
        return len(frozenset().union(*self._lines))

    def close(self) -> None:
        """Remove the build."""
        self._coverage.close()


def _named(refused: BuildRefusedError, left: set[str]) -> set[str]:
    """Files with calls that a failed build's log names."""
    log: Sequence[str] = refused.evidence.get("log") or ()
    return {name for line in log for name in NAMED.findall(line)} & left


def _stepped(request: BuildRequest, steps: tuple[Step, ...]) -> BuildRequest:
    toolchain, system = request.toolchain, request.system
    systems = {**toolchain.build_systems, request.lock.build_system: replace(system, build=(*steps, *system.build))}
    return replace(request, toolchain=replace(toolchain, build_systems=systems))
