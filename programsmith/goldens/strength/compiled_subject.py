"""Compiled oracles: a build per slot, rebuilt after each edit; lines come from the language's own reader.

A mutation of which the compiler makes the very program that it makes of the source is no mutant: no case can tell the
two apart (trivial compiler equivalence, Papadakis et al. 2015). Generated sources (parsers, lexers) are traced but not
mutated: their tables would measure the generator.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from programsmith.errors import InputError
from programsmith.goldens.strength.batches import Batches
from programsmith.goldens.strength.gcov import Gcov
from programsmith.goldens.strength.hits import Hits
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen, Unfit
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import Launcher, Result
from programsmith.payload.verifier.model import Case
from programsmith.records.golden import Golden
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.install import inside
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRequest
from programsmith.toolchains.views import run_view


class LineReader(Protocol):
    """A coverage build of a source, and what tells the lines that a run of it executed."""

    def counted(self, case: Case) -> dict[str, int]:
        """Lines (`path:line`) that a case executes, and how often; empty where its run could not be traced."""

    def scope_lines(self) -> int:
        """Lines that carry code in any file that was built."""

    def close(self) -> None:
        """Remove what was built."""


READERS: dict[str, Callable[[Bench, SourceTree, BuildRequest], LineReader]] = {  # by the rule's `strength.lines`
    "gcov": Gcov,
    "hits": Hits,
}


class CompiledSubject:
    """One coverage build for tracing, one build per slot for mutants. The toolchain's rule says what may be mutated."""

    def __init__(self, bench: Bench, source: SourceTree, request: BuildRequest, slots: int, generated: str) -> None:
        rule = request.toolchain.strength
        if rule is None:
            raise InputError(f"{request.toolchain.language}: wanted `strength` in rules/toolchains.yaml, found none")
        self._edited: dict[int, str] = {}
        self._open: list[Workspace | LineReader | Launcher] = []
        own = (*bench.facts.exec_allowed, os.path.realpath(sys.executable))
        runner: Launcher = open_launcher(run_view(request.toolchain, own))
        self._open.append(runner)
        self._batches = Batches(
            launcher=runner, facts=bench.facts, limits=bench.limits, how=b"program", options=(b"-I", b"-S")
        )
        try:
            self._reader = READERS[rule.lines](bench, source, request)
            self._open.append(self._reader)
            self._builds = [Workspace.open(source, replace(request, flavour=Flavour.MUTANT))]
            self._open.append(self._builds[0])
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
            for suffix in rule.files
            for e in source.files(suffix.encode())
            if not made.search(e.content[:4096])
        }

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each a process of its own."""
        return self._batches.answers(tree, goldens, limits)

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines that each case executes, as the reader tells."""
        return [frozenset(self._reader.counted(golden.case)) for golden in goldens]

    def reach(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """The lines of each case, and how often each ran, by powers of two (`path:line*count`)."""
        counted = [self._reader.counted(golden.case) for golden in goldens]
        return [frozenset(f"{line}*{n.bit_length()}" for line, n in lines.items()) for lines in counted]

    def scope_lines(self) -> int:
        """Lines that carry code in any file that was built."""
        return self._reader.scope_lines()

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
        for thing in self._open:
            thing.close()
