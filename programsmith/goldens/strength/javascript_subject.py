"""JavaScript oracles: the installed tree is the program, so a mutation is an edited copy and nothing is compiled.

What a build made of TypeScript is mutated as it was made: it is what runs, and it stands line for line beside its
source. Each case is a process of its own, since nobody can say that a module's state is undone. Lines are told by a
hook that asks the engine for its block coverage when the program ends.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from programsmith.goldens.strength.batches import Batches
from programsmith.goldens.strength.copies import Copies
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen, Unfit
from programsmith.goldens.strength.syntax import code_lines, parses
from programsmith.payload.verifier.launcher import Launcher, Result
from programsmith.payload.verifier.model import FileEntry, unb64
from programsmith.records.golden import Golden
from programsmith.records.lock import EntryPoint
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.javascript_imports import SCRIPTS, closure
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.views import run_view

LIB = "lib"
LANGUAGE = "javascript"
HOOK = ((b"NODE_OPTIONS", b"--require=/opt/coverage/node_lines.js"),)
ADDED = re.compile(rb"\b__esModule\b|\bthis && this\.__\w+")
PACKED = 2000  # bytes of a line that no person wrote: minified code, or a table


class JavaScriptSubject:
    """Traces with the engine's block coverage; mutates a copy of the tree per slot.

    Its sources are the files of the package that the command imports, and what else a case was seen to run.
    """

    def __init__(self, bench: Bench, toolchain: Toolchain, entry: EntryPoint, tree: Path, scratch: Path) -> None:
        self.tree = tree
        view = run_view(toolchain, (*bench.facts.exec_allowed, os.path.realpath(sys.executable)))
        self._runner: Launcher = open_launcher(view)
        self._batches = Batches(
            launcher=self._runner,
            facts=bench.facts,
            limits=bench.limits,
            how=b"program",
            options=(b"-I", b"-S"),
            hook=HOOK,
        )
        self._all = dict(_sources(tree / LIB))
        shown = SourceTree(FileEntry(os.fsencode(path), "file", 0o644, text) for path, text in self._all.items())
        self._reached = {os.fsdecode(e.path) for e in closure(shown, entry.target).files}
        self._code = {path: written_lines(text) for path, text in self._all.items()}
        self._copies = Copies(tree, scratch)

    @property
    def sources(self) -> dict[str, bytes]:
        """Mutable files by their path in the package."""
        return {path: text for path, text in self._all.items() if path in self._reached}

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines that each case executes; none where it ends otherwise than by exiting."""
        told = self._batches.told(self.tree, goldens, lambda _: self._batches.limits, trace=True)
        found = [frozenset(self._lines(one["lines"])) for one in told]
        self._reached |= {line.rpartition(":")[0] for lines in found for line in lines}
        return found

    def _lines(self, told: Sequence[str]) -> Iterator[str]:
        for line in told:
            name, _, number = line.rpartition(":")
            path = unb64(name).decode("utf-8", "surrogateescape").removeprefix(LIB + "/")
            if int(number) in self._code.get(path, ()):
                yield f"{path}:{number}"

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each a process of its own."""
        return self._batches.answers(tree, goldens, limits)

    def scope_lines(self) -> int:
        """Lines that carry code."""
        return sum(len(self._code[path]) for path in self._reached)

    def mutate(self, slot: int, mutation: Mutation) -> Path | Unfit:
        """Edit this slot's copy."""
        mutated = mutation.apply(self._all[mutation.path])
        if not parses(LANGUAGE, mutated):
            return Unfit.DOES_NOT_BUILD
        return self._copies.edit(slot, {Path(LIB, mutation.path): mutated})

    def spent(self) -> float:
        """CPU seconds of all launches."""
        return sum(self._batches.spent)

    def close(self) -> None:
        """Remove the copies and the launcher."""
        self._copies.close()
        self._runner.close()


def written_lines(text: bytes) -> frozenset[int]:
    """Lines that carry code of a person's: what a compiler adds so that modules find each other is none."""
    lines = text.split(b"\n")
    return frozenset(n for n in code_lines(LANGUAGE, text) if not ADDED.search(lines[n - 1]))


def _sources(lib: Path) -> Iterator[tuple[str, bytes]]:
    """(path in the package, content) of every script that a person could have written."""
    for file in sorted(lib.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        text = file.read_bytes()
        script = file.name.endswith(SCRIPTS) or (text.startswith(b"#!") and b"node" in text.partition(b"\n")[0])
        if script and max(map(len, text.splitlines()), default=0) <= PACKED:
            yield file.relative_to(lib).as_posix(), text
