"""What every launcher over an init of ours does: write the init's order, move bytes, watch limits, judge the report.

In: a JSON-able config (the view, the user to become, how to start an init) and a `Request`. Out: a `Result` whose facts
come from the init's status pipe alone; stdout, stderr or an exit code of what starts the init prove nothing. A launch
without a complete report is a fault of ours, unless one of our limits ended it. A subclass starts the init in a place
that holds the five properties.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from programsmith.payload.verifier import isolation, seccomp
from programsmith.payload.verifier.host import counted_before, falls_silent, is_readable, pids_bind, read_on
from programsmith.payload.verifier.launcher import LauncherError, Request, Result, View
from programsmith.payload.verifier.pump import Pump
from programsmith.payload.verifier.settle import Used, settle
from programsmith.payload.verifier.slots import Slot, Slots
from programsmith.payload.verifier.views import decode_view
from programsmith.payload.verifier.wire import Bind, Flag, Order, Report, Right, decode_report, encode_order, is_whole

_DEPTH = 128  # of a work directory that is read back
_STACK, _STACK_MOST, _OPEN_FILES, _OPEN_FILES_SANDBOX = 8 << 20, 64 << 20, 256, 4096
TMP = "/tmp"  # noqa: S108 - a path inside
_OWN_MEMORY = 16 << 20  # room inside the memory group for what starts the program
_EXECUTE, _SCRIPTS = int(Right.EXECUTE), int(Right.SCRIPTS)
_CPU_PERIOD, _SILENCE, _FIRST_WORD = 0.025, 10.0, 5.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A host directory shown writable in place of the fresh work directory (a sandbox's, never a case's).

    `further` are more of them, as (target, source). No kernel limit bounds them, so `outgrown` is asked now and then.
    `fence` are rights by path: with one, nothing else is executed, read or written. `beside`: bytes of memory and files
    that another sandbox of the same trial may have meanwhile.
    """

    source: str
    target: str
    outgrown: Callable[[], bool]
    further: tuple[tuple[str, str], ...] = ()
    fence: tuple[tuple[Right, str], ...] = ()
    beside: int = 0


@dataclass(slots=True)
class Launch:
    """One launch under way."""

    request: Request
    slot: Slot
    workspace: Workspace | None
    begun: float = field(default_factory=time.monotonic)


class Init(Protocol):
    """A started init: our ends of its pipes, and its end."""

    stdin: int
    stdout: int
    stderr: int
    status: int

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for its end and that of all that it started, with `kill` end it first; why that failed, else None.

        `done` says that its report is whole: then nothing is left but the init itself. Does not close `status`.
        """


class IsolatedLauncher:
    """Launcher over an init. Thread-safe; `config` is what `sandboxes.launcher_config` makes."""

    name: str
    hidden: ClassVar[str]  # where the init may mount what it shows elsewhere
    marks: ClassVar[bool]  # whether starting the init costs CPU that its report does not tell apart

    def __init__(self, config: dict[str, Any], slots: Slots) -> None:
        self._config = config
        self._view: View = decode_view(config["view"])
        self._root = os.geteuid() == 0
        self._slots = slots
        self._ending: list[threading.Thread] = []
        self._filter, self._script_filter, self._sandbox_filter = seccomp.filters()

    def _spawn(self, launch: Launch, request: int) -> Init:
        """Start the init with the order in the file `request`. Raises OSError, LauncherError."""
        raise NotImplementedError

    def _twin(self, config: dict[str, Any]) -> IsolatedLauncher:
        """A launcher of the same kind over another config."""
        raise NotImplementedError

    def probe(self) -> tuple[str, ...]:
        """Prove the five properties on this host; return the limits that the kernel enforces."""
        own = self._config["probe"]["view"]
        if own == self._config["view"]:
            isolation.prove(self)
            return self.enforced()
        launcher = self._twin({**self._config, "view": own})
        self._ending.append(threading.Thread(target=launcher.close))  # which nobody has to wait for
        try:
            isolation.prove(launcher)
        finally:
            self._ending[-1].start()
        return self.enforced()

    def enforced(self) -> tuple[str, ...]:
        """Limits that the kernel enforces here."""
        counted = ("memory", "cpu", "pids") if self._slots.counted else ("pids",) if pids_bind(root=self._root) else ()
        return (*counted, "work", "work_files", "code", "output", "wall")

    def prepare(self, launches: int) -> None:
        """Begin to start what so many launches at a time will share; a fault is theirs to tell."""
        slots: list[Slot] = []
        with contextlib.suppress(OSError):
            while len(slots) < min(launches, self._slots.most or launches):
                slots.append(self._slots.take())
                self._prepare(slots[-1])
        for slot in slots:
            self._slots.give(slot)

    def _prepare(self, slot: Slot) -> None:
        """Begin to start what launches in a slot share. Raises OSError."""

    def run(self, request: Request) -> Result:
        """Start the program and wait for the end of all of its processes."""
        return self.start(request)

    def start(self, request: Request, workspace: Workspace | None = None) -> Result:
        """Like `run`; a sandbox passes its `workspace`, which then takes the place of the work directory."""
        try:
            slot = self._slots.take()
        except OSError as fault:
            return Result(fault=f"control group: {fault}")
        try:
            return slot.do(lambda: self._launch(Launch(request, slot, workspace)))
        except (OSError, ValueError, LauncherError, struct.error) as fault:
            return Result(fault=f"launch: {fault}")
        finally:
            self._slots.give(slot)

    def close(self) -> None:
        """Remove what launches shared. No launch may be under way."""
        self._slots.close()
        for thread in self._ending:
            thread.join()
        self._ending.clear()

    def _launch(self, launch: Launch) -> Result:
        limits, group = launch.request.limits, launch.slot.group
        if group:
            group.begin(limits.memory_bytes + _OWN_MEMORY, limits.pids + 2)
        order = encode_order(self._order(launch))
        request = os.memfd_create("request")
        try:
            _write_all(request, order)
            init = self._spawn(launch, request)
        finally:
            os.close(request)
        try:
            return self._settled(init, launch)
        finally:
            os.close(init.status)

    def _settled(self, init: Init, launch: Launch) -> Result:
        kill, report = True, Report()
        rest: bytearray | None = None
        try:
            flow = self._pump(init, launch).run()
            rest = None if flow.over == "status" else flow.status
            if flow.over == "output" and not flow.status:
                is_readable(init.status, _FIRST_WORD)  # a program may outrun the word that it started
            kill, report = flow.over is not None, decode_report(flow.status)
        finally:
            with read_on(init.status, rest) if kill else contextlib.nullcontext():
                fault = init.end(kill=kill, done=report.complete)
        behind = bytearray() if rest is None else rest  # behind a cut, nothing is where its record says
        if fault or not (report.complete or falls_silent(init.status, _SILENCE, behind)):
            said = f"{report.fault}: " if report.fault else ""
            return Result(fault=said + (fault or "processes of the launch outlive it"))
        if not report.complete:
            report = decode_report(flow.status)
        return settle(report, flow, launch.request, self._used(launch, report))

    def _used(self, launch: Launch, report: Report) -> Used:
        """What the host measured, less what starting the program took."""
        group = launch.slot.group
        wall = time.monotonic() - launch.begun
        if group is None:
            return Used(wall, 0.0, frozenset())
        own = 0.0 if self.marks else report.own_seconds
        return Used(wall, max(group.cpu_seconds() - own, 0.0), group.hits())

    def _pump(self, init: Init, launch: Launch) -> Pump:
        limits, group = launch.request.limits, launch.slot.group
        return Pump(
            stdin=init.stdin,
            stdout=init.stdout,
            stderr=init.stderr,
            status=init.status,
            data=launch.request.stdin,
            output_cap=limits.output_bytes,
            status_cap=min(limits.work_bytes, launch.request.collect_bytes) + limits.work_files * 8192 + (1 << 16),
            deadline=launch.begun + limits.wall_seconds,
            check=_Check(launch),
            begun=(group.mark if group else _unmarked) if self.marks else None,
            period=_CPU_PERIOD if group or launch.workspace else None,
            is_whole=is_whole,
        )

    def _binds(self, launch: Launch) -> list[Bind]:
        """What this launch shows besides the view, in this order."""
        shown = [Bind(mount.source, mount.target) for mount in launch.request.mounts]
        shown += [Bind(os.devnull, path) for path in launch.request.hidden]
        if launch.workspace:
            shown.append(Bind(launch.workspace.source, launch.workspace.target, writable=True))
            shown += [Bind(source, target, writable=True) for target, source in launch.workspace.further]
        return shown

    def _order(self, launch: Launch) -> Order:
        request = launch.request
        limits, around = request.limits, request.surroundings
        paths = self._executables(request)
        work = launch.workspace.target if launch.workspace else around.cwd
        fence = launch.workspace.fence if launch.workspace else ()
        return Order(
            flags=_flags(launch, paths),
            umask=around.umask,
            work_bytes=limits.work_bytes,
            work_files=limits.work_files,
            cpu_us=math.ceil(limits.cpu_seconds * 1e6),
            memory=limits.memory_bytes,
            max_bytes=min(limits.work_bytes, request.collect_bytes),
            max_depth=_DEPTH,
            shared=limits.memory_bytes + limits.work_bytes + (launch.workspace.beside if launch.workspace else 0),
            clock=around.clock,
            limits=tuple(self._rlimits(launch)),
            hidden=self.hidden,
            work=work,
            cwd=around.cwd,
            program=request.program,
            filter=self._calls(launch),
            hostname=around.hostname,
            argv=request.argv,
            env=request.env,
            paths=fence or _rights(paths, request),
            files=tuple(reversed(request.files)) if around.reverse_files else request.files,
        )

    def _executables(self, request: Request) -> tuple[str, ...]:
        """What this launch may execute."""
        allowed = [path for path in self._view.executables if path not in request.hidden]
        shown = [(m.target,) if m.scripts is None else m.scripts for m in request.mounts]
        return (*allowed, *(path for paths in shown for path in paths))

    def _calls(self, launch: Launch) -> bytes:
        """The system call filter of this launch."""
        if launch.workspace:
            return self._sandbox_filter
        only_scripts = any(m.scripts is not None and not m.makes_code for m in launch.request.mounts)
        if launch.request.surroundings.clock:
            return seccomp.assemble(families=seccomp.CASE_FAMILIES, makes_code=not only_scripts, traced=True)
        return self._script_filter if only_scripts else self._filter

    def _rlimits(self, launch: Launch) -> Iterator[tuple[int, int, int]]:
        limits, group = launch.request.limits, launch.slot.group
        cpu = math.ceil(limits.cpu_seconds) + 1  # a backstop: the sum over processes decides
        processes = limits.pids + (8 if group else 1) + counted_before(root=self._root)
        yield resource.RLIMIT_NPROC, processes, processes
        yield resource.RLIMIT_CPU, cpu, cpu
        yield resource.RLIMIT_FSIZE, limits.work_bytes, limits.work_bytes
        yield resource.RLIMIT_STACK, _STACK, _STACK_MOST
        files = _OPEN_FILES_SANDBOX if launch.workspace else _OPEN_FILES
        yield resource.RLIMIT_NOFILE, files, files
        yield resource.RLIMIT_CORE, 1, 1  # with 0, a host that pipes dumps would start its helper all the same
        yield resource.RLIMIT_MSGQUEUE, 0, 0
        if not group and not (launch.workspace and launch.workspace.fence):
            yield resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes  # not what is only reserved


class _Check:
    """Which limit is passed at this moment, as far as the host can see."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._next_look = 0.0

    def __call__(self) -> str | None:
        group, limits = self._launch.slot.group, self._launch.request.limits
        if group and group.cpu_seconds() > limits.cpu_seconds:
            return "cpu"
        return "work" if self._outgrown() else None

    def _outgrown(self) -> bool:
        """Look at the workspace, a twentieth of the time at most."""
        begun = time.monotonic()
        if not self._launch.workspace or begun < self._next_look:
            return False
        found = self._launch.workspace.outgrown()
        ended = time.monotonic()
        self._next_look = ended + max(1.0, 20 * (ended - begun))
        return found


def _rights(executables: tuple[str, ...], request: Request) -> tuple[tuple[int, str], ...]:
    scripts = [(_SCRIPTS, m.target) for m in request.mounts if m.scripts is not None]
    return (*[(_EXECUTE, path) for path in executables], *scripts)


def _unmarked() -> None:
    """Mark nothing. The report is read along all the same: where something marks, it holds the streams to the end."""


def _flags(launch: Launch, paths: tuple[str, ...]) -> Flag:
    flags = Flag(0)
    if not launch.workspace and not _covers(paths, launch.request.surroundings.cwd):
        flags |= Flag.FENCE_EXEC
    else:
        flags |= Flag.EXEC_WORK
    if launch.workspace:
        flags |= Flag.WORKSPACE
        flags |= Flag.KEEP_TMP if any(at == TMP for at, _ in launch.workspace.further) else Flag(0)
        flags |= Flag.FENCE_FILES if launch.workspace.fence else Flag(0)
    if not launch.slot.group:
        flags |= Flag.WATCH
    if launch.request.collect and not launch.workspace:
        flags |= Flag.COLLECT
    if launch.request.surroundings.clock:
        flags |= Flag.TURN_CLOCK
    return flags | Flag.ONE_CPU if launch.request.surroundings.one_cpu else flags


def _write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _covers(paths: tuple[str, ...], place: str) -> bool:
    return any(place == p or place.startswith(p.rstrip("/") + "/") for p in paths)
