"""The bubblewrap launcher: every launch in fresh namespaces, under an init of ours that is the first process inside.

In: a JSON-able config (paths of bwrap and init, the view, the user to become) and a `Request`. Out: a `Result` whose
facts come from the init's status pipe alone; stdout, stderr or an exit code of bwrap prove nothing. A launch without
a complete report is a fault of ours, unless one of our limits ended it.

What holds the five properties: a root with nothing but the view and the request's mounts; own user, pid, network, ipc
and uts namespaces; no capability, no-new-privileges, a system call filter, Landlock on execution; a work directory that
is a tmpfs of its own; the init and everything below it die with the pid namespace. As root a launch becomes an
ordinary user first, since process limits do not bind root.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from programsmith.payload.verifier import isolation, seccomp
from programsmith.payload.verifier.cgroup import Group, open_pool
from programsmith.payload.verifier.host import children, counted_before, crossable, has_ended, is_readable, pids_bind
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result, View
from programsmith.payload.verifier.pump import Pump
from programsmith.payload.verifier.settle import Used, settle
from programsmith.payload.verifier.slots import Slot, Slots
from programsmith.payload.verifier.views import decode_view
from programsmith.payload.verifier.wire import Flag, Order, decode_report, encode_order

HIDDEN = "/run/init"  # where the init's files are until it starts the program
_INSIDE_ID = 1000
_DEVICES = ("null", "zero", "full", "urandom")  # each costs a mount
_DEVICE_LINKS = (("random", "urandom"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"),
                 ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2"))  # fmt: skip
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH")
_DEPTH = 128  # of a work directory that is read back
_STACK, _STACK_MOST, _OPEN_FILES = 8 << 20, 64 << 20, 256
_OWN_MEMORY = 16 << 20  # room for bwrap and the init inside the memory group
_CPU_PERIOD = 0.025
_LINGER, _SILENCE = 0.02, 10.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A host directory shown writable in place of the fresh work directory (a sandbox's, never a case's).

    `further` are more of them, as (target, source). No kernel limit bounds them, so `outgrown` is asked now and then.
    """

    source: str
    target: str
    outgrown: Callable[[], bool]
    further: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Launch:
    """One launch under way."""

    request: Request
    slot: Slot
    workspace: Workspace | None
    begun: float = field(default_factory=time.monotonic)


class BwrapLauncher:
    """Launcher over bwrap. Thread-safe; `config` is what `sandboxes.launcher_config` makes."""

    name = "bwrap"

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._view: View = decode_view(config["view"])
        self._root = os.geteuid() == 0
        self._slots = Slots(open_pool() if self._root and config.get("cgroup", True) else None)
        self._filter = seccomp.assemble()
        self._fixed = tuple(_fixed_arguments(config, self._view))

    def probe(self) -> tuple[str, ...]:
        """Prove the five properties on this host; return the limits that the kernel enforces."""
        own = self._config["probe"]
        with contextlib.closing(BwrapLauncher({**self._config, "view": own["view"]})) as launcher:
            isolation.prove(launcher, own)
        counted = ("memory", "cpu", "pids") if self._slots.counted else ("pids",) if pids_bind(root=self._root) else ()
        return (*counted, "work", "work_files", "output", "wall")

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
            return slot.do(lambda: self._launch(_Launch(request, slot, workspace)))
        except (OSError, ValueError, LauncherError) as fault:
            return Result(fault=f"launch: {fault}")
        finally:
            self._slots.give(slot)

    def close(self) -> None:
        """Remove the control groups. No launch may be under way."""
        self._slots.close()

    def _launch(self, launch: _Launch) -> Result:
        limits, group = launch.request.limits, launch.slot.group
        if group:
            group.begin(limits.memory_bytes + _OWN_MEMORY, limits.pids + 2)
        order = encode_order(self._order(launch))
        request_fd = os.memfd_create("request")
        status, report = os.pipe()
        try:
            _write_all(request_fd, order)
            process = self._spawn(launch, request_fd, report)
        except OSError:
            os.close(status)
            raise
        finally:
            os.close(request_fd)
            os.close(report)
        try:
            flow = self._pump(process, launch, status).run()
        finally:
            silent = _end(process, group, status)
        if not silent:
            return Result(fault="processes of the launch outlive it")
        return settle(decode_report(bytes(flow.status)), flow, launch.request, _used(launch))

    def _spawn(self, launch: _Launch, request_fd: int, report: int) -> subprocess.Popen[bytes]:
        stages = list(self._stages(launch.request.mounts))
        command = [*self._enter(launch, stages), *self._arguments(launch, stages), str(request_fd), str(report)]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(request_fd, report),
            cwd="/",
            env={},
            start_new_session=True,
        )

    def _pump(self, process: subprocess.Popen[bytes], launch: _Launch, status: int) -> Pump:
        limits, group = launch.request.limits, launch.slot.group
        pipes = [os.dup(p.fileno()) for p in (process.stdin, process.stdout, process.stderr) if p]
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()

        return Pump(
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            status=status,
            data=launch.request.stdin,
            output_cap=limits.output_bytes,
            status_cap=min(limits.work_bytes, launch.request.collect_bytes) + limits.work_files * 8192 + (1 << 16),
            deadline=launch.begun + limits.wall_seconds,
            check=_Check(launch),
            begun=group.mark if group else lambda: None,
            period=_CPU_PERIOD if group or launch.workspace else None,
        )

    def _enter(self, launch: _Launch, stages: list[tuple[str, str]]) -> list[str]:
        """Command prefix that joins the groups, stages trees and becomes an ordinary user; nothing for a user."""
        if not self._root:
            return []
        uid = str(self._config["uid"] + launch.slot.index)
        words = [*self._config["init"]["enter"], uid, uid]
        group = launch.slot.group
        for entrance in group.entrances if group and not launch.slot.joined else ():
            words += ["join", entrance, "-"]
        for source, place in stages:
            words += ["stage", source, place]
        return [*words, "--"]

    def _stages(self, mounts: tuple[Mount, ...]) -> Iterator[tuple[str, str]]:
        """(source, place) of the mounts that the ordinary user could not reach by their path."""
        if not self._root:
            return
        for number, mount in enumerate(mounts):
            if not crossable(mount.source):
                kind = "tree" if os.path.isdir(mount.source) else "file"
                yield mount.source, os.path.join(self._config["stage"], f"{kind}{number}")

    def _arguments(self, launch: _Launch, stages: list[tuple[str, str]]) -> list[str]:
        request, staged = launch.request, dict(stages)
        words = [*self._fixed, "--hostname", request.surroundings.hostname]
        for mount in request.mounts:
            words += ["--ro-bind", staged.get(mount.source, mount.source), mount.target]
        for path in request.hidden:
            words += ["--ro-bind", os.devnull, path]
        if launch.workspace:
            words += ["--bind", launch.workspace.source, launch.workspace.target]
            for target, source in launch.workspace.further:
                words += ["--bind", source, target]
        else:
            words += ["--dir", request.surroundings.cwd]
        return [*words, "--remount-ro", "/", "--", *self._config["init"]["argv"]]

    def _order(self, launch: _Launch) -> Order:
        request = launch.request
        limits, around = request.limits, request.surroundings
        allowed = [path for path in self._view.executables if path not in request.hidden]
        paths = (*allowed, *(m.target for m in request.mounts))
        work = launch.workspace.target if launch.workspace else around.cwd
        return Order(
            flags=self._flags(launch, paths),
            umask=around.umask,
            work_bytes=limits.work_bytes,
            work_files=limits.work_files,
            cpu_us=math.ceil(limits.cpu_seconds * 1e6),
            memory=limits.memory_bytes,
            max_bytes=min(limits.work_bytes, request.collect_bytes),
            max_depth=_DEPTH,
            limits=tuple(self._rlimits(launch)),
            hidden=HIDDEN,
            work=work,
            cwd=around.cwd,
            program=request.program,
            filter=self._filter,
            argv=request.argv,
            env=request.env,
            paths=paths,
            files=tuple(reversed(request.files)) if around.reverse_files else request.files,
        )

    def _flags(self, launch: _Launch, paths: tuple[str, ...]) -> Flag:
        flags = Flag(0)
        if not launch.workspace and not _covers(paths, launch.request.surroundings.cwd):
            flags |= Flag.FENCE_EXEC
        else:
            flags |= Flag.EXEC_WORK
        if launch.workspace:
            flags |= Flag.WORKSPACE
        if not launch.slot.group:
            flags |= Flag.WATCH
        if launch.request.collect and not launch.workspace:
            flags |= Flag.COLLECT
        return flags | Flag.ONE_CPU if launch.request.surroundings.one_cpu else flags

    def _rlimits(self, launch: _Launch) -> Iterator[tuple[int, int, int]]:
        limits, group = launch.request.limits, launch.slot.group
        cpu = math.ceil(limits.cpu_seconds) + 1  # a backstop: the sum over processes decides
        processes = limits.pids + (8 if group else 1) + counted_before(root=self._root)
        yield resource.RLIMIT_NPROC, processes, processes
        yield resource.RLIMIT_CPU, cpu, cpu
        yield resource.RLIMIT_FSIZE, limits.work_bytes, limits.work_bytes
        yield resource.RLIMIT_STACK, _STACK, _STACK_MOST
        yield resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES
        yield resource.RLIMIT_CORE, 0, 0
        yield resource.RLIMIT_MSGQUEUE, 0, 0
        if not group:
            yield resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes


class _Check:
    """Which limit is passed at this moment, as far as the host can see."""

    def __init__(self, launch: _Launch) -> None:
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


def _used(launch: _Launch) -> Used:
    group = launch.slot.group
    wall = time.monotonic() - launch.begun
    return Used(wall, group.cpu_seconds() if group else 0.0, group.hits() if group else frozenset())


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the init, since bwrap ends only when everything below the init is gone; bwrap itself where that fails."""
    found = children(process.pid)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if not has_ended(process, _SILENCE if found else _LINGER):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end(process: subprocess.Popen[bytes], group: Group | None, status: int) -> bool:
    """Wait for bwrap, killing it where it lingers; whether the init, which holds the status pipe, is gone too."""
    if not has_ended(process, _LINGER):
        _kill(process)
    if group:
        group.kill()
    with contextlib.closing(os.fdopen(status, "rb", 0)) as pipe:
        deadline = time.monotonic() + _SILENCE
        while is_readable(status, deadline - time.monotonic()):
            if not pipe.read(1 << 16):
                return True
    return False


def _write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _fixed_arguments(config: dict[str, Any], view: View) -> Iterator[str]:
    """The part of bwrap's command line that no launch changes."""
    yield from (config["bwrap"], "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL")
    yield from ("--uid", str(_INSIDE_ID), "--gid", str(_INSIDE_ID))
    for capability in _CAPABILITIES:
        yield from ("--cap-add", capability)
    for name, value in config["init"].get("env", {}).items():
        yield from ("--setenv", name, value)
    for mount in view.mounts:
        yield from ("--ro-bind", mount.source, mount.target)
    for path, target in view.links:
        yield from ("--symlink", target, path)
    for path in (*view.dirs, "/tmp", "/dev/shm"):  # noqa: S108 - paths inside
        yield from ("--dir", path)
    for name in _DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for name, target in _DEVICE_LINKS:
        yield from ("--symlink", target, f"/dev/{name}")
    yield from ("--proc", "/proc", "--ro-bind", config["init"]["folder"], HIDDEN)


def _covers(paths: tuple[str, ...], place: str) -> bool:
    return any(place == p or place.startswith(p.rstrip("/") + "/") for p in paths)
