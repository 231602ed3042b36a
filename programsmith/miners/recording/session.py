"""A suite's place: a sandbox with the built source, the oracle and stand-ins, in which the suite runs piece by piece.

In: a `Bench` and what the suite needs. Out: the calls that each piece made. The suite is untrusted: it has no network,
the limits of rules/limits.yaml, and nothing of the host but a list-built view. The logs are as untrusted as it is.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from programsmith.errors import InfraError, InputError, plain
from programsmith.miners.base import Bench, Skip
from programsmith.miners.recording.box import Box
from programsmith.miners.recording.log import Call, read_call
from programsmith.miners.recording.paths import Roots
from programsmith.miners.recording.stand_in import StandIn, Told, stand_in
from programsmith.payload.verifier.environment import BASE_ENV, ORACLE
from programsmith.payload.verifier.launcher import Mount, Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import hostile, open_embedded
from programsmith.sandboxes.base import SandboxPlan
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.recipe import WORKSPACE, recipe
from programsmith.toolchains.views import build_view

PLACE = f"{WORKSPACE}/record"
SEARCHED = f"{PLACE}/path"  # comes first in PATH
SOURCE = f"{WORKSPACE}/source"
HOME = f"{WORKSPACE}/home"
ROOTS = Roots(source=SOURCE.encode(), home=HOME.encode(), temporary=(b"/build/tmp", b"/tmp"), own=PLACE.encode())
LOG = f"{PLACE}/log"
_SAID = 1500  # bytes of it that are told
_DEPTH = 32
_SUITE_PATH = f"{SEARCHED}:/build/tools:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a suite needs besides the build: programs and packages of the host, variables, files to lay down.

    `vendor` are entries below `vendor/`, laid at /build/record. `drops` are variables that the tool must not see.
    """

    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    vendor: tuple[FileEntry, ...] = ()
    drops: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One piece of a suite: a command, where it starts, the test file that it is, and the test's name if known."""

    words: tuple[str, ...]
    test: bytes
    cwd: str = SOURCE
    name: str = ""


class Session:
    """An open place of a suite, a copy of `built`. Close it. `box` is what all suites of the source may take.

    `made` counts the calls of the last piece.
    """

    def __init__(self, source: SourceTree, bench: Bench, needs: Needs, built: Workspace, box: Box) -> None:
        self.bench = bench
        self.source = source
        self.made = 0
        self._needs = needs
        self._box = box
        self._stands: tuple[StandIn, ...] = ()
        self._pieces = 0
        self.recipe = recipe(bench.request, [os.fsdecode(e.path) for e in source if b"/" not in e.path])
        self.env = _environment(self.recipe.env, needs)
        self._program = stand_in()
        self._sandbox = open_embedded(self._plan())
        try:
            built.copy_into(self._sandbox)
            self._lay()
        except BaseException:
            self._sandbox.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._sandbox.close()

    @property
    def drops(self) -> tuple[str, ...]:
        """Variables of the suite that the tool does not see."""
        return self._needs.drops

    @property
    def left(self) -> float:
        """CPU seconds that are left."""
        return self._box.left

    def executables(self, name: str) -> Iterator[str]:
        """Inside paths of the source's ELF executables of that name. No link is followed."""
        top = self._sandbox.host_path(WORKSPACE)
        with hostile.opened(top, [SOURCE.rpartition("/")[2]]) as source:
            for folder, folders, files, at in os.fwalk(".", dir_fd=source):
                folders[:] = sorted(folders) if folder.count("/") < _DEPTH else []
                if name in files and _is_elf(name, at):
                    yield os.path.normpath(f"{SOURCE}/{folder}/{name}")

    def stand(self, stands: Sequence[StandIn]) -> None:
        """Put the stand-in at these paths, newer than everything that was built. Raises Skip `place_broken`."""
        self._stands = (*self._stands, *stands)
        for one in stands:
            folder, _, name = one.path.rpartition("/")
            self._put([FileEntry(os.fsencode(name), "file", 0o755, self._program)], folder)

    def _put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down where the suite may have been before: what it left in the way is its own affair."""
        try:
            self._sandbox.put(entries, at)
        except (InputError, InfraError) as fault:
            raise Skip("place_broken") from fault

    def run(self, words: Sequence[str], cwd: str = SOURCE, cpu_seconds: float | None = None) -> Result:
        """Run a command of the suite, its output going to the suite's log. Raises Skip, InfraError."""
        return self._start(f'cd "$1" && shift && exec "$@" >>{LOG} 2>&1', words, cwd, cpu_seconds)

    def ask(self, words: Sequence[str], cwd: str = SOURCE, cpu_seconds: float | None = None) -> bytes:
        """What a command of the suite prints; nothing where it fails. Raises Skip, InfraError."""
        done = self._start(f'cd "$1" && shift && exec "$@" 2>>{LOG}', words, cwd, cpu_seconds)
        return done.stdout if done.exit_code == 0 else b""

    def said(self) -> str:
        """The last lines that the suite's commands wrote, as printable text: why a suite called nothing."""
        told = self.ask(("tail", "-c", str(_SAID), LOG))
        return plain(told.decode("ascii", "backslashreplace").strip())

    def _start(self, script: str, words: Sequence[str], cwd: str, cpu_seconds: float | None) -> Result:
        limits = self._box.limits_of(cpu_seconds)
        shell = ("sh", "-c", script, "sh", cwd, *words)
        result = self._sandbox.run(tuple(map(os.fsencode, shell)), cwd=WORKSPACE, limits=limits)
        self._box.take(result)
        return result

    def record(self, start: Start) -> tuple[list[Call], int]:
        """The calls that a piece made, in their order, and how many logs were no log. Raises Skip, InfraError."""
        self._pieces += 1
        calls, rule = f"{PLACE}/calls/{self._pieces}", self.bench.rule
        self._put([FileEntry(b"%d" % self._pieces, "dir", 0o755)], f"{PLACE}/calls")
        self._put([FileEntry(b"config", "file", 0o644, self._told(calls))], PLACE)
        self.made = 0
        self.run(start.words, start.cwd)
        try:
            logs = self._sandbox.take(calls, max_files=rule["calls"], max_bytes=rule["log_bytes"], cut=True)
        except InputError:  # the suite removed or replaced the folder
            return [], 1
        read = [read_call(e.content) if e.kind == "file" else None for e in logs]
        found = [c for c in read if c is not None]
        self.made = len(found)
        return found, len(read) - len(found)

    def _told(self, calls: str) -> bytes:
        facts = self.bench.facts
        told = Told(
            stands=self._stands,
            calls=calls,
            cap=self.bench.rule["stream_bytes"],
            roots=ROOTS.all(),
            own=(*self._needs.own, *(one.path for one in self._stands)),
            drops=self._needs.drops,
            program=facts.program,
            tool=facts.tool,
        )
        return told.text()

    def _plan(self) -> SandboxPlan:
        request = self.bench.request
        packages = (*(request.spec_build.get("packages") or ()), *self._needs.packages)
        search = ":".join(request.toolchain.common.search)
        there = [name for name in self.bench.rule["programs"] if shutil.which(name, path=search)]
        view = build_view(request.toolchain, (*self._needs.programs, *there), packages)
        env = tuple((k.encode(), v.encode()) for k, v in self.env.items())
        mounts = (Mount(source=os.fspath(self.bench.oracle), target=ORACLE),)
        return SandboxPlan(view=view, workspace=WORKSPACE, env=env, mounts=mounts)

    def _lay(self) -> None:
        folders = [FileEntry(f, "dir", 0o755) for f in (b"path", b"calls")]
        self._sandbox.put([*folders, *self._needs.vendor], PLACE)
        tool = FileEntry(os.fsencode(self.bench.facts.tool), "file", 0o755, self._program)
        self._sandbox.put([tool], SEARCHED)
        self._stands = (StandIn(path=f"{SEARCHED}/{self.bench.facts.tool}"),)


def _is_elf(name: str, folder: int) -> bool:
    try:
        with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder), "rb") as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _environment(build: Mapping[str, str], needs: Needs) -> dict[str, str]:
    """The suite's environment: that of a case wherever a program could tell, that of a build otherwise."""
    case = {k.decode(): v.decode() for k, v in BASE_ENV}
    places = {"PATH": _SUITE_PATH, "HOME": HOME, "TMPDIR": "/build/tmp"}
    return {**build, **case, **places, **needs.env}
