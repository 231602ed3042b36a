"""The sandbox over a Docker engine: a volume per writable place, a fresh container for every run.

In: a `SandboxPlan` over an image. Out: results of runs, and entries of the writable places. Everything goes through the
engine's API, so it need not share a file system or a user with us: what is shown is copied in, what was written comes
out as an archive. The first process of a run is ours and reports to a folder that the program cannot enter.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier import seccomp
from programsmith.payload.verifier.isolated import TMP
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.settle import Used, settle
from programsmith.payload.verifier.wire import Flag, Order, decode_report, encode_order
from programsmith.sandboxes.base import DOCKER, Image, SandboxPlan, place_of, program_path
from programsmith.sandboxes.docker_archives import tree_of
from programsmith.sandboxes.docker_container import Plan, create, remove_container, run
from programsmith.sandboxes.docker_reaper import reap
from programsmith.sandboxes.docker_volumes import Volumes

UID = 1000  # of the user that images have for an agent
OWN = "/run/init"  # where the first process has its files, for root alone
PYTHON = "/usr/bin/python3"  # of the image, for the first process
_COVERED_PYTHON = "python"  # its copy, where something else is shown in its folder
_ROOT = 0
_OWN_MEMORY, _OWN_PIDS = 64 << 20, 4
_STACK, _STACK_MOST, _OPEN_FILES = 8 << 20, 64 << 20, 1024
_SILENCE = 60.0  # seconds beyond the wall limit in which a container starts and ends
_REPORT_BYTES = 1 << 20


class DockerSandbox:
    """Sandbox over a Docker engine."""

    name = DOCKER

    def __init__(self, plan: SandboxPlan, image: Image) -> None:
        self._plan = plan
        self._image, self._profile = image.id, image.profile
        self.writable = (plan.workspace, *plan.writable)
        self._shown = (OWN, *(m.target for m in plan.mounts))
        self._live = {m.target: m.source for m in plan.live}
        self._python = PYTHON
        self._ended = False
        self._runs = 0
        self._running = ""
        reap()
        self.volumes = Volumes(self._image, (*self._shown, *self.writable))
        try:
            self.volumes.fill(OWN, _own_files(), _ROOT)
            if os.path.dirname(PYTHON) in self._live:
                self.volumes.fill(OWN, [self.volumes.program(PYTHON, _COVERED_PYTHON)], _ROOT)
                self._python = f"{OWN}/{_COVERED_PYTHON}"
            for mount in plan.mounts:
                self.volumes.fill(mount.target, tree_of(Path(mount.source)), _ROOT)
        except BaseException:
            self.close()
            raise

    def run(
        self, argv: tuple[bytes, ...], *, cwd: str, limits: Limits, stdin: bytes = b"", beside: Limits | None = None
    ) -> Result:
        """Run a command in the workspace and wait until all of its processes are gone. Raises InfraError."""
        del beside  # containers are counted apart
        if self._ended:
            raise InfraError(f"sandbox run of {argv[0]!r}: the sandbox has ended")
        self._runs += 1
        name, begun = f"{self._runs}", time.monotonic()
        request = Request(
            program=program_path(argv[0]), argv=argv, env=self._plan.env, limits=limits, stdin=stdin, collect=False
        )
        order = encode_order(_order(request, cwd, self._plan))
        self.volumes.fill(OWN, [FileEntry(f"{name}/request".encode(), content=order)], _ROOT)
        self._running = create(self._container(name, limits))
        try:  # the first process ends a program that takes too long; here is only a backstop against its own silence
            ended = run(self._running, stdin, limits.output_bytes, limits.wall_seconds + _SILENCE)
        finally:
            self._remove_running()
        used = Used(time.monotonic() - begun, 0.0, frozenset({"memory"} if ended.out_of_memory else ()))
        result = settle(decode_report(self._report(name)), ended.flow, request, used)
        if result.fault:
            raise InfraError(f"sandbox run of {argv[0]!r}: {result.fault}")
        return result

    def _container(self, name: str, limits: Limits) -> Plan:
        volumes = {at: (self.volumes[at], True) for at in (OWN, *self.writable)}
        volumes |= {at: (self.volumes[at], False) for at in self._shown[1:]}
        beside = self._plan.beside
        if isinstance(beside, DockerSandbox):
            volumes = {at: (beside.volumes[at], True) for at in beside.writable} | volumes
        room = f"size={limits.work_bytes},nr_inodes={limits.work_files}"
        module = "programsmith.payload.init.contained"
        return Plan(
            image=self._image,
            command=[
                self._python,
                "-s",
                "-S",
                "-B",
                "-m",
                module,
                name,
                str(UID),
                str(limits.wall_seconds),
                *self.writable,
            ],
            workdir=OWN,
            memory_bytes=limits.memory_bytes + _OWN_MEMORY,
            pids=limits.pids + _OWN_PIDS,
            volumes=volumes,
            live=self._live,
            scratch={} if TMP in volumes else {TMP: f"rw,exec,nosuid,nodev,mode=1777,{room}"},
            shared_bytes=limits.work_bytes,
            profile=self._profile,
        )

    def _report(self, name: str) -> bytes:
        found = self.volumes.take(OWN, [name.encode()], max_files=2, max_bytes=_REPORT_BYTES, cut=True)
        return next((e.content for e in found if e.path == b"report"), b"")

    def put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down below the inside path `at`, which is writable."""
        self.volumes.put(*self._inside(at), entries, UID)

    def take(self, at: str, *, max_files: int, max_bytes: int, cut: bool = False) -> tuple[FileEntry, ...]:
        """Read what lies below `at`, beneath and without following links; caps raise InputError, or `cut`."""
        return self.volumes.take(*self._inside(at), max_files=max_files, max_bytes=max_bytes, cut=cut)

    def end(self) -> None:
        """End every process inside; nothing runs here any more, and what was written stays. Idempotent."""
        self._ended = True  # a run removes its container before it returns

    def close(self) -> None:
        """End and remove everything. Idempotent, also where the engine was away the last time."""
        self.end()
        self._remove_running()
        self.volumes.close()

    def _remove_running(self) -> None:
        """Remove the container of the last run, if it is still there."""
        if self._running:
            remove_container(self._running)
            self._running = ""

    def _inside(self, at: str) -> tuple[str, list[bytes]]:
        place, parts = place_of(at, self.writable)
        return place, [os.fsencode(p) for p in parts]


def _own_files() -> Iterator[FileEntry]:
    """The first process's modules under their own names; the packages above them are empty."""
    payload = Path(str(resources.files("programsmith.payload")))
    for file in sorted((payload / "init").glob("*.py")):
        yield FileEntry(f"programsmith/payload/init/{file.name}".encode(), content=file.read_bytes())
    for package in ("programsmith", "programsmith/payload"):
        yield FileEntry(f"{package}/__init__.py".encode())


def _order(request: Request, cwd: str, plan: SandboxPlan) -> Order:
    limits = request.limits
    return Order(
        flags=Flag.WATCH | Flag.WORKSPACE | (Flag.FENCE_FILES if plan.fence else Flag(0)),
        umask=request.surroundings.umask,
        work_bytes=limits.work_bytes,
        work_files=limits.work_files,
        cpu_us=math.ceil(limits.cpu_seconds * 1e6),
        memory=limits.memory_bytes,
        max_bytes=0,
        max_depth=0,
        shared=0,
        limits=tuple(_rlimits(limits)),
        hidden=OWN,
        work=plan.workspace,
        cwd=cwd,
        program=request.program,
        filter=seccomp.assemble(),
        argv=request.argv,
        env=request.env,
        paths=plan.fence,
        files=(),
    )


def _rlimits(limits: Limits) -> Iterator[tuple[int, int, int]]:
    cpu = math.ceil(limits.cpu_seconds) + 1  # a backstop: the sum over processes decides
    yield resource.RLIMIT_CPU, cpu, cpu
    yield resource.RLIMIT_FSIZE, limits.work_bytes, limits.work_bytes
    yield resource.RLIMIT_STACK, _STACK, _STACK_MOST
    yield resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES
    yield resource.RLIMIT_CORE, 1, 1  # see the launcher
