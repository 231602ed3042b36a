"""C oracles: an optimised build per slot, rebuilt after each edit; lines come from gcov, sandboxed like the program.

A mutation of which the compiler makes the very program that it makes of the source is no mutant: no case can tell the
two apart (trivial compiler equivalence, Papadakis et al. 2015).
A run leaves its counters in the work directory; gcov reads them beside the notes of the coverage build. Generated
sources (parsers, lexers) are traced but not mutated: their tables would measure the generator.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.batches import Batches
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen, Unfit
from programsmith.payload.verifier.environment import BASE_ENV, ORACLE, WORK
from programsmith.payload.verifier.launcher import Launcher, Request, Result
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import Golden
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import list_view
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.install import inside
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view

COUNTERS = b".programsmith-counters"


class CSubject:
    """One coverage build for tracing, one optimised build per slot for mutants."""

    def __init__(self, bench: Bench, source: SourceTree, request: BuildRequest, slots: int, generated: str) -> None:
        self._bench = bench
        self._lines_in_scope: set[str] = set()
        self._edited: dict[int, str] = {}
        self._open: list[Workspace] = []
        own = (*bench.facts.exec_allowed, os.path.realpath(sys.executable))
        self._gcov: Launcher = open_launcher(list_view(programs=["gcov"]))
        self._runner: Launcher = open_launcher(run_view(request.toolchain, own))
        self._batches = Batches(
            launcher=self._runner, facts=bench.facts, limits=bench.limits, how=b"program", options=(b"-I", b"-S")
        )
        try:
            self._coverage = self._build(source, request, Flavour.COVERAGE)
            self._notes = _notes(self._coverage)
            self._builds = [self._build(source, request, Flavour.MUTANT)]
            self._builds[0].rebuild()  # what an edit replaces is the program as it was built, not as it was installed
            for _ in range(slots - 1):
                self._builds.append(self._builds[0].twin())
                self._open.append(self._builds[-1])
        except BaseException:
            self.close()
            raise
        self.tree = self._builds[0].tree.parent / "unmutated"
        shutil.copytree(self._builds[0].tree, self.tree, symlinks=True)
        self._unmutated = self._program(self.tree)
        made = re.compile(generated.encode())
        self.sources = {
            e.path.decode("utf-8", "surrogateescape"): e.content
            for e in source.files(b".c")
            if not made.search(e.content[:4096])
        }

    def _build(self, source: SourceTree, request: BuildRequest, flavour: Flavour) -> Workspace:
        workspace = Workspace.open(source, replace(request, flavour=flavour))
        self._open.append(workspace)
        return workspace

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each a process of its own."""
        return self._batches.answers(tree, goldens, limits)

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Run the coverage build, hand its counters to gcov, keep the lines that were counted."""
        return [self._trace(golden.case) for golden in goldens]

    def _trace(self, case: Case) -> frozenset[str]:
        bench = self._bench
        request = bench.request(case, self._coverage.tree)
        prefix = WORK.encode() + b"/" + COUNTERS
        result = bench.launcher.run(replace(request, env=(*request.env, (b"GCOV_PREFIX", prefix))))
        counters = [f for f in result.files or () if f.kind == "file" and f.path.startswith(COUNTERS + b"/")]
        counters = [f for f in counters if f.path.endswith(b".gcda")]
        return self._lines(counters) if counters else frozenset()

    def _lines(self, counters: Sequence[FileEntry]) -> frozenset[str]:
        named = [(f, f.path.removeprefix(COUNTERS + b"/").replace(b"/", b"#")) for f in counters]
        files: list[FileEntry] = []
        for counter, name in named:
            note = self._notes.get(counter.path.removeprefix(COUNTERS)[: -len(b"da")] + b"no")
            if note is not None:
                files.append(FileEntry(name, "file", 0o644, counter.content))
                files.append(FileEntry(name[: -len(b"da")] + b"no", "file", 0o644, note))
        words = (b"gcov", b"--json-format", b"--stdout", *(f.path for f in files if f.path.endswith(b".gcda")))
        limits = replace(self._bench.limits, output_bytes=64 << 20)
        result = self._gcov.run(
            Request(program="/usr/bin/gcov", argv=words, env=BASE_ENV, limits=limits, files=tuple(files), collect=False)
        )
        if result.exit_code != 0:
            raise InfraError(f"gcov ended with {result.exit_code}: {result.fault or result.stderr[-200:]!r}")
        seen: set[str] = set()
        for report in result.stdout.splitlines():
            seen.update(self._counted(json.loads(report)))
        return frozenset(seen)

    def _counted(self, report: dict[str, Any]) -> set[str]:
        root = self._coverage.places.source + "/"
        seen: set[str] = set()
        for file in report["files"]:
            path = posixpath.normpath(posixpath.join(report["current_working_directory"], file["file"]))
            if path.startswith(root):
                path = path.removeprefix(root)
                self._lines_in_scope.update(f"{path}:{line['line_number']}" for line in file["lines"])
                seen.update(f"{path}:{line['line_number']}" for line in file["lines"] if line["count"])
        return seen

    def scope_lines(self) -> int:
        """Lines that carry code in any file that was linked, as gcov lists them."""
        return len(self._lines_in_scope)

    def mutate(self, slot: int, mutation: Mutation) -> Path | Unfit:
        """Undo the slot's last edit, make this one, build what changed."""
        workspace = self._builds[slot]
        before = self._edited.pop(slot, None)
        if before is not None and before != mutation.path:
            workspace.edit(before.encode("utf-8", "surrogateescape"), self.sources[before])
        path = mutation.path.encode("utf-8", "surrogateescape")
        workspace.edit(path, mutation.apply(self.sources[mutation.path]))
        self._edited[slot] = mutation.path
        if not workspace.rebuild():
            return Unfit.DOES_NOT_BUILD
        return Unfit.EQUIVALENT if self._program(workspace.tree) == self._unmutated else workspace.tree

    def _program(self, tree: Path) -> bytes:
        program = inside(tree, self._builds[0].program.removeprefix(ORACLE + "/"))
        return program.read_bytes() if program else b""

    def spent(self) -> float:
        """CPU seconds of all launches but the traces, and of all builds."""
        return sum(self._batches.spent) + sum(build.cpu_seconds for build in self._builds)

    def close(self) -> None:
        """Remove the builds and the launchers."""
        for workspace in self._open:
            workspace.close()
        self._gcov.close()
        self._runner.close()


def _notes(workspace: Workspace) -> dict[bytes, bytes]:
    """The notes files of a coverage build by their absolute path inside, as the counters name them."""
    root = workspace.host_path(".")
    source = workspace.places.source.encode()
    return {
        source + b"/" + file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"): file.read_bytes()
        for file in sorted(root.rglob("*.gcno"))
        if file.is_file() and not file.is_symlink()
    }
