"""Build a locked source offline, inside a sandbox; keep a build open and rebuild it after an edit.

In: the source and a request. Out: the tree that is shown at /opt/oracle, and the path of its program. Everything from
the source is untrusted: it runs only inside. Refuses (BuildRefusedError) what does not build, with the end of its log.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes import open_embedded
from programsmith.sandboxes.base import SandboxPlan
from programsmith.sandboxes.embedded import EmbeddedSandbox
from programsmith.sources.tree import SourceTree
from programsmith.toolchains import install
from programsmith.toolchains.fetch import fetch
from programsmith.toolchains.interpreted import build_files, interpreted_tree
from programsmith.toolchains.minimums import refusal, refuse_too_old, too_old
from programsmith.toolchains.recipe import (
    WORKSPACE,
    BuildRefusedError,
    BuildRequest,
    Command,
    Places,
    Recipe,
    places,
    recipe,
)
from programsmith.toolchains.source_git import asks_git, repository
from programsmith.toolchains.views import build_view, shown_libraries

LOG = f"{WORKSPACE}/log"
LOG_LINES = 30
ASLEEP = 0.02  # of the wall time: less CPU time is that of a command that waits
SECOND = 1_000_000_000  # in nanoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A finished build: `install` is the tree shown at /opt/oracle, `program` the absolute path inside.

    `manuals` are manual pages that were installed and that no run needs, `vendor` is what the package client brought.
    """

    install: tuple[FileEntry, ...]
    program: str
    log: bytes
    recipe: tuple[str, ...]
    manuals: tuple[FileEntry, ...] = ()
    vendor: tuple[FileEntry, ...] = ()


def build_source(source: SourceTree, request: BuildRequest) -> Built:
    """Build from nothing. Raises BuildRefusedError, PrerequisiteError, InfraError."""
    with Workspace.open(source, request) as workspace:
        return workspace.built()


class Workspace:
    """An open build. `tree` on the host is what is shown at /opt/oracle, valid until the next `rebuild` or `close`.

    `rebuild` runs the last build command again (make compiles what was edited, a language without a build nothing)
    and brings the result into `tree`. `cpu_seconds` is what its commands took. Use one workspace per thread.
    """

    def __init__(
        self,
        sandbox: EmbeddedSandbox,
        plan: SandboxPlan,
        request: BuildRequest,
        made: Recipe,
        vendor: Sequence[FileEntry],
    ) -> None:
        self._plan = plan
        self.request = request
        self.recipe = made
        self.places: Places = places(request.flavour)
        self.program = ""
        self.cpu_seconds = 0.0
        self._sandbox = sandbox
        self._vendor = tuple(vendor)

    @classmethod
    def open(cls, source: SourceTree, request: BuildRequest) -> Workspace:
        """Build `source` and keep the result. Raises BuildRefusedError, PrerequisiteError, InfraError."""
        refuse_too_old(source, request)
        vendor = fetch(source, request) if request.vendor is None else request.vendor
        made = recipe(request, _root_names(source))
        git = asks_git(request.lock)
        view = build_view(request.toolchain, ("git",) if git else (), (*made.packages, *request.system.packages))
        env = tuple((k.encode(), v.encode()) for k, v in made.env.items())
        plan = SandboxPlan(view=view, workspace=WORKSPACE, env=env)
        sandbox = open_embedded(plan)
        workspace = cls(sandbox, plan, request, made, vendor)
        try:
            workspace._lay(source, git=git)
            workspace._build()
        except BaseException:
            sandbox.close()
            raise
        return workspace

    def twin(self) -> Workspace:
        """Another workspace in the same state, for another thread; it is closed by itself. Raises InfraError."""
        sandbox = open_embedded(self._plan)
        made = Workspace(sandbox, self._plan, self.request, self.recipe, self._vendor)
        made.program = self.program
        try:
            self.copy_into(sandbox)
        except InfraError:
            sandbox.close()
            raise
        return made

    def copy_into(self, sandbox: EmbeddedSandbox) -> None:
        """Lay everything in this workspace down in another sandbox's. Raises InfraError."""
        whole, copy = (f"{place.host_path(WORKSPACE)}/." for place in (self._sandbox, sandbox))
        done = subprocess.run(["cp", "-a", "--", whole, copy], capture_output=True, check=False)
        if done.returncode:
            raise InfraError(f"copying a workspace: {done.stderr.decode('ascii', 'backslashreplace')}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def tree(self) -> Path:
        """The host folder that is shown at /opt/oracle."""
        return self._sandbox.host_path(self.places.stage + ORACLE)

    def host_path(self, path: str) -> Path:
        """Where a file of the source, or made beside it by the build, lies on the host."""
        return self._sandbox.host_path(f"{self.places.source}/{path}")

    def edit(self, path: bytes, content: bytes) -> None:
        """Replace a source file, newer than everything that was built from it."""
        file = install.inside(self.host_path("."), os.fsdecode(path))
        if not file:
            raise InputError(f"{os.fsdecode(path)}: wanted a regular file of the source to edit")
        file.write_bytes(content)
        now = time.time_ns()
        os.utime(file, ns=(now, now))

    def rebuild(self) -> bool:
        """Build again what was edited; whether it built. Raises InfraError."""
        try:
            if self.recipe.build:
                self._run(self.recipe.build[-1])
            self._install(again=True)
        except BuildRefusedError:
            return False
        return True

    def built(self) -> Built:
        """The tree as entries, without what no run needs. Raises InputError where it is larger than the limits."""
        entries = self._take(self.places.stage + ORACLE)
        kept = install.prune(entries, self.request.toolchain.common, keep=self.program.removeprefix(ORACLE + "/"))
        manuals = tuple(e for e in entries if e.kind == "file" and b"/man/man" in b"/" + e.path)
        return Built(
            install=kept,
            program=self.program,
            log=self._log(),
            recipe=self.recipe.lines(),
            manuals=manuals,
            vendor=self._vendor,
        )

    def close(self) -> None:
        """Remove the workspace. Idempotent."""
        self._sandbox.close()

    def _lay(self, source: SourceTree, *, git: bool) -> None:
        beside = self._vendor if self.request.toolchain.compiled else ()
        entries = [*source, *(repository(source, self.request.lock) if git else ()), *beside]
        self._sandbox.put(entries, self.places.source)
        folders = ("home", "tmp", "stage", "tools")
        self._sandbox.put([FileEntry(f.encode(), "dir", 0o755) for f in folders], WORKSPACE)
        place = os.path.relpath(self.places.source, WORKSPACE)
        self._sandbox.put(build_files(self.request, self._vendor, place), WORKSPACE)
        toolchain = self.request.toolchain
        flags = install.wrapper_flags(toolchain, self.request.flavour, bundles=bool(self.recipe.packages))
        self._sandbox.put(install.wrappers(toolchain, flags), f"{WORKSPACE}/tools")
        stamp = int(self.recipe.env["SOURCE_DATE_EPOCH"]) * SECOND
        for folder, folders_in, files in os.walk(self._sandbox.host_path(self.places.source)):
            for name in (*folders_in, *files):
                os.utime(os.path.join(folder, name), ns=(stamp, stamp), follow_symlinks=False)

    def _build(self) -> None:
        for command in self.recipe.build:
            self._run(command)
        self._install(again=False)

    def _install(self, *, again: bool) -> None:
        if self.request.toolchain.compiled:
            self._install_compiled(again=again)
        else:
            self._install_interpreted()

    def _install_compiled(self, *, again: bool) -> None:
        """Install by the recipe, else take the built file alone; after an edit only the program is taken."""
        entry, prefix = self.request.entry, self.places.prefix
        target = install.inside(self.host_path("."), self.request.output)
        if again and target and install.is_elf(target):
            self._put_program(target)
            return
        for command in self.recipe.install:
            if not self._run(Command(words=command.words, may_fail=True)):
                break
        staged = self._sandbox.host_path(self.places.stage + prefix)
        found = install.find_program(staged, entry.tool)
        self.program = f"{prefix}/{found or 'bin/' + entry.tool}"
        if not found:
            self._put_built(target)
        program = install.inside(staged, self.program.removeprefix(prefix + "/"))
        libraries = install.bundled(program.read_bytes() if program else b"", shown_libraries(self.request.toolchain))
        self._sandbox.put(libraries, self.places.stage + prefix)

    def _put_built(self, target: Path | None) -> None:
        """Take the file that the build left where the entry point says. Raises BuildRefusedError."""
        entry = self.request.entry
        if not target or not install.is_elf(target):
            raise BuildRefusedError(
                Word.UNBUILDABLE,
                f"the build left no executable {entry.tool!r}, neither installed nor at {self.request.output!r}",
                {"log": self._log_end()},
            )
        self._put_program(target)

    def _put_program(self, built: Path) -> None:
        program = FileEntry(self.program.lstrip("/").encode(), "file", 0o755, built.read_bytes())
        self._sandbox.put([program], self.places.stage)

    def _install_interpreted(self) -> None:
        entries = self._take(self.places.source)
        tree = interpreted_tree(entries, self.request, self._vendor)
        self.program = f"{self.places.prefix}/bin/{self.request.entry.tool}"
        self._sandbox.put(tree, self.places.stage + self.places.prefix)
        for command in self.recipe.install:
            self._run(command)

    def _take(self, at: str) -> tuple[FileEntry, ...]:
        limits = self.request.limits
        return self._sandbox.take(at, max_files=limits.work_files, max_bytes=limits.work_bytes)

    def _run(self, command: Command) -> bool:
        """Run one command, its output going to the log. Whether it succeeded; refusal where it had to."""
        words = ("sh", "-c", 'exec "$@" >>' + LOG + " 2>&1", "sh", *command.words)
        result = self._sandbox.run(
            tuple(w.encode("utf-8", "surrogateescape") for w in words),
            cwd=self.places.source,
            limits=self.request.limits,
        )
        self.cpu_seconds += result.cpu_seconds
        if result.fault:
            raise InfraError(f"build of {self.request.lock.name}: {' '.join(command.words)}: {result.fault}")
        refuse_slow_host(self.request.lock.name, command, result)
        if result.exit_code == 0 or command.may_fail:
            return result.exit_code == 0
        raise self._refusal(command, result.exit_code, result.limits_hit)

    def _refusal(self, command: Command, status: int | None, hit: frozenset[str]) -> BuildRefusedError:
        log = self._log_end()
        text = "\n".join(log)
        evidence = {"command": list(command.words), "exit_code": status, "log": log}
        if hit:
            return BuildRefusedError(
                Word.UNBUILDABLE, f"the build exceeded its limit: {', '.join(sorted(hit))}", evidence
            )
        if fault := too_old(text, self.request):
            return refusal(fault)
        if any(re.search(sign, text) for sign in self.request.toolchain.common.network_signs):
            return BuildRefusedError(Word.UNBUILDABLE, "needs_network_build: the build asks for the network", evidence)
        last = next((line for line in reversed(log) if line.strip()), "no output")
        return BuildRefusedError(Word.UNBUILDABLE, f"`{' '.join(command.words)}` ended with {status}: {last}", evidence)

    def _log(self) -> bytes:
        file = self._sandbox.host_path(LOG)
        if file.is_symlink() or not file.is_file():
            return b""
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - self.request.limits.output_bytes))
            return log.read()

    def _log_end(self) -> list[str]:
        return self._log().decode("ascii", "backslashreplace").splitlines()[-LOG_LINES:]


def refuse_slow_host(name: str, command: Command, result: Result) -> None:
    """Raise InfraError where a command that was at work met the wall limit alone: another day it builds.

    One that hardly used a CPU meanwhile waits for what never comes, which is the source's doing.
    """
    if result.limits_hit == {"wall"} and result.cpu_seconds > ASLEEP * result.wall_seconds:
        raise InfraError(
            f"build of {name}: {' '.join(command.words)}: had {result.cpu_seconds:.0f} s of CPU time in "
            f"{result.wall_seconds:.0f} s, so the host is too busy; run again when it is less so"
        )


def _root_names(source: SourceTree) -> tuple[str, ...]:
    return tuple(os.fsdecode(e.path) for e in source if b"/" not in e.path and e.kind == "file")
