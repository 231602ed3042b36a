"""Java oracles: a mutation is one file compiled against the installed tree, its classes put into a copy.

Lines come from a second tree, compiled of sources that call before every statement. Each case is a process of its own.
A mutation of which the compiler makes the very classes that it makes of the source is no mutant.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import programsmith.payload.coverage as hooks
from programsmith.errors import InfraError
from programsmith.goldens.strength.batches import Batches
from programsmith.goldens.strength.copies import Copies
from programsmith.goldens.strength.java_lines import telling
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Bench, Chosen, Unfit
from programsmith.goldens.strength.syntax import parses
from programsmith.payload.verifier.launcher import Launcher, Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import Golden
from programsmith.sandboxes import open_embedded, open_launcher
from programsmith.sandboxes.base import SandboxPlan
from programsmith.sandboxes.embedded import EmbeddedSandbox
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_java import main_sources
from programsmith.toolchains.recipe import WORKSPACE, BuildRequest
from programsmith.toolchains.views import build_view, run_view

HOOK = ((b"PROGRAMSMITH", b"lines"),)  # what is told goes to a descriptor that stays open where there is a hook
ADDRESSES = 4  # a virtual machine reserves what it may need; its heap is bounded by its own arguments
LIB = "lib"
HOOK_CLASS = "Lines"
COMPILE = ("javac", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-encoding", "UTF-8", "-g", "-nowarn", "-cp",
           f"{WORKSPACE}/lib:{WORKSPACE}/vendor/*")  # fmt: skip


class JavaSubject:
    """One tree that tells its lines, one compiler per slot."""

    def __init__(
        self, bench: Bench, source: SourceTree, request: BuildRequest, tree: Path, scratch: Path, generated: str
    ) -> None:
        self.tree = tree
        self._scratch = scratch
        self._request = request
        view = run_view(request.toolchain, (*bench.facts.exec_allowed, os.path.realpath(sys.executable)))
        self._runner: Launcher = open_launcher(view)
        self._batches = Batches(
            launcher=self._runner,
            facts=bench.facts,
            limits=bench.limits,
            how=b"program",
            options=(b"-I", b"-S"),
            hook=HOOK,
            addresses=ADDRESSES,
        )
        made = re.compile(generated.encode())
        self.sources = {
            os.fsdecode(e.path): e.content for e in main_sources(source) if not made.search(e.content[:4096])
        }
        self._all = {os.fsdecode(e.path): e.content for e in main_sources(source)}
        self._compilers: dict[int, Compiler] = {}
        self._copies = Copies(tree, scratch)
        self._places: dict[int, tuple[str, ...]] = {}
        try:
            self._telling = self._made_telling()
        except BaseException:
            self.close()
            raise

    def _made_telling(self) -> Path:
        """The tree of sources that tell. Raises InfraError where they do not compile."""
        files, number = {}, 0
        for path, text in sorted(self._all.items()):
            told = telling(text, number)
            files[path] = told.text
            self._places |= {n: tuple(f"{path}:{line}" for line in lines) for n, lines in told.lines.items()}
            number += len(told.lines)
        hook = Path(hooks.__file__).parent / f"{HOOK_CLASS}.java"
        files[f"programsmith/{hook.name}"] = hook.read_bytes()
        found = self._compiler(0).compile(files)
        if found is None:
            raise InfraError(f"strength: the source that tells its lines does not compile: {self._compiler(0).said}")
        copy = Copies(self.tree, self._scratch)
        return copy.edit(-1, {Path(LIB, name): content for name, content in found.items()})

    def _compiler(self, slot: int) -> Compiler:
        if slot not in self._compilers:
            self._compilers[slot] = Compiler(self._request, self.tree)
        return self._compilers[slot]

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines that each case executes; none where it ends otherwise than by exiting."""
        told = self._batches.told(self._telling, goldens, lambda _: self._batches.limits, trace=True)
        return [frozenset(line for n in one["lines"] for line in self._places.get(int(n), ())) for one in told]

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Several cases per launch, each a process of its own."""
        return self._batches.answers(tree, goldens, limits)

    def scope_lines(self) -> int:
        """Lines of statements."""
        return len(set().union(*self._places.values()))

    def mutate(self, slot: int, mutation: Mutation) -> Path | Unfit:
        """Compile the mutated file, put its classes into this slot's copy."""
        mutated = mutation.apply(self.sources[mutation.path])
        compiler = self._compiler(slot)
        found = compiler.compile({mutation.path: mutated}) if parses("java", mutated) else None
        if found is None:
            return Unfit.DOES_NOT_BUILD
        if all(_content(self.tree / LIB / name) == content for name, content in found.items()):
            return Unfit.EQUIVALENT
        return self._copies.edit(slot, {Path(LIB, name): content for name, content in found.items()})

    def spent(self) -> float:
        """CPU seconds of all launches and of all compilations."""
        return sum(self._batches.spent) + sum(c.cpu_seconds for c in self._compilers.values())

    def close(self) -> None:
        """Remove the copies, the compilers and the launcher."""
        self._copies.close()
        for compiler in self._compilers.values():
            compiler.close()
        self._runner.close()


class Compiler:
    """A sandbox that holds an installed tree and compiles single files against it. Use one per thread."""

    def __init__(self, request: BuildRequest, tree: Path) -> None:
        self._limits = request.limits
        self.cpu_seconds = 0.0
        self.said = ""
        env = tuple((k.encode(), v.encode()) for k, v in request.toolchain.common.environment.items())
        plan = SandboxPlan(view=build_view(request.toolchain), workspace=WORKSPACE, env=env)
        self._sandbox: EmbeddedSandbox = open_embedded(plan)
        parts = [f for part in (LIB, "vendor") for f in sorted((tree / part).rglob("*")) if f.is_file()]
        entries = [FileEntry(os.fsencode(f.relative_to(tree)), "file", 0o644, f.read_bytes()) for f in parts]
        self._sandbox.put([*entries, *(FileEntry(f, "dir", 0o755) for f in (b"home", b"tmp", b"vendor"))], WORKSPACE)
        self._turn = 0

    def compile(self, files: Mapping[str, bytes]) -> dict[str, bytes] | None:
        """Classes by their path on the class path; None where a file does not compile. Raises InfraError."""
        self._turn += 1
        source, out = f"turn{self._turn}/source", f"turn{self._turn}/classes"
        entries = [FileEntry(os.fsencode(f"{source}/{p}"), "file", 0o644, text) for p, text in files.items()]
        self._sandbox.put([*entries, FileEntry(out.encode(), "dir", 0o755)], WORKSPACE)
        words = [*COMPILE, "-d", f"{WORKSPACE}/{out}", *(f"{WORKSPACE}/{source}/{path}" for path in files)]
        result = self._sandbox.run(tuple(map(os.fsencode, words)), cwd=WORKSPACE, limits=self._limits)
        self.cpu_seconds += result.cpu_seconds
        if result.fault:
            raise InfraError(f"strength: javac: {result.fault}")
        self.said = result.stderr[:500].decode("ascii", "backslashreplace")
        if result.exit_code:
            return None
        limits = self._limits
        made = self._sandbox.take(f"{WORKSPACE}/{out}", max_files=limits.work_files, max_bytes=limits.work_bytes)
        return {os.fsdecode(e.path): e.content for e in made if e.kind == "file"}

    def close(self) -> None:
        """Remove the sandbox."""
        self._sandbox.close()


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
