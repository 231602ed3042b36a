"""The plain launcher of the public runner: subprocesses in an agent's own container, with neither root nor namespaces.

It keeps to the launcher contract as far as such a place allows: own session, process limits, Landlock on execution
where the kernel has it, caps on time and output. It isolates nothing and is never accepted for scoring. A request at
the submission's place runs there; each other one runs in a fresh work directory. One launch at a time.
"""

from __future__ import annotations

import contextlib
import glob
import math
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from programsmith.payload.verifier.environment import SUBMISSION, WORK
from programsmith.payload.verifier.landlock import restrict, ruleset
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.pump import Flow, Pump
from programsmith.payload.verifier.tree import Caps, TreeError, read_tree, write_tree

SEARCH = "/usr/local/bin:/usr/bin:/bin"
LOADERS = ("/lib/ld-*.so*", "/lib64/ld-*.so*", "/lib/*/ld-*.so*", "/usr/lib/*/ld-*.so*")
_DEPTH = 128
_PERIOD = 0.02


@dataclass(frozen=True, kw_only=True)
class PlainLauncher:
    """Launcher of the public runner.

    `submission` is where the submission lies. `executables` (paths, or names to search) are what a launch may start
    besides it; None leaves execution free, for a build.
    """

    name = "plain"
    submission: str
    executables: tuple[str, ...] | None

    def probe(self) -> tuple[str, ...]:
        """What is held to here; isolation is not among it."""
        return ("wall", "output")

    def close(self) -> None:
        """Nothing outlives a launch."""

    def run(self, request: Request) -> Result:
        """Start the program and wait for it; what it left running is ended with it."""
        if request.surroundings.cwd == SUBMISSION:
            return self._launch(request, self.submission)
        with tempfile.TemporaryDirectory(prefix="case-", ignore_cleanup_errors=True) as scratch:
            work = os.path.join(scratch, "work")
            write_tree(work, request.files)
            return self._launch(request, work)

    def _launch(self, request: Request, work: str) -> Result:
        began, before = time.monotonic(), _children_seconds()
        with self._fence(request) as fence:
            try:
                process = self._spawn(request, work, fence)
            except OSError as fault:
                return Result(start_error=fault.errno)
        flow = _flow(process, request)
        _end(process)
        return replace(
            _result(flow, process.returncode),
            files=_read_back(work, request.limits),
            cpu_seconds=_children_seconds() - before,
            wall_seconds=time.monotonic() - began,
        )

    def _spawn(self, request: Request, work: str, fence: int | None) -> subprocess.Popen[bytes]:
        def enter() -> None:
            os.umask(request.surroundings.umask)
            _limit(request.limits)
            if fence is not None:
                restrict(fence)

        return subprocess.Popen(
            request.argv,
            executable=self._here(request.program.encode(), work),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=work,
            env={name: self._here(value, work) for name, value in request.env},
            start_new_session=True,
            preexec_fn=enter,  # noqa: PLW1509 - the public runner has one thread
        )

    @contextlib.contextmanager
    def _fence(self, request: Request) -> Iterator[int | None]:
        """The Landlock ruleset of a launch; None where execution is free or the kernel lacks it."""
        if self.executables is None:
            yield None
            return
        named = (shutil.which(e, path=SEARCH) for e in self.executables)
        loaders = (path for pattern in LOADERS for path in glob.glob(pattern))
        fd = ruleset((*self._started(request), *(p for p in named if p and p not in request.hidden), *loaders))
        try:
            yield fd
        finally:
            if fd is not None:
                os.close(fd)

    def _started(self, request: Request) -> Iterator[str]:
        """What of the submission may be started."""
        scripts = [path for mount in request.mounts for path in mount.scripts or ()]
        if all(mount.scripts is None for mount in request.mounts):
            yield self.submission
        yield from (os.fsdecode(self._here(os.fsencode(path), "")) for path in scripts)

    def _here(self, value: bytes, work: str) -> bytes:
        """What is called /app/submission or /work inside, as it is called here."""
        for inside, outside in ((SUBMISSION.encode(), self.submission.encode()), (WORK.encode(), work.encode())):
            if value == inside or value.startswith(inside + b"/"):
                return outside + value[len(inside) :]
        return value


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _limit(limits: Limits) -> None:
    """Limits per process, which is all that a container without control groups of its own can hold to."""
    seconds = math.ceil(limits.cpu_seconds) + 1
    wanted = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.work_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]  # an agent's place may allow less, and nobody can raise that
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))


def _flow(process: subprocess.Popen[bytes], request: Request) -> Flow:
    """Feed stdin and read both streams until they are closed or a limit is passed."""
    owned = [os.dup(pipe.fileno()) for pipe in (process.stdin, process.stdout, process.stderr) if pipe]
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
    return Pump(
        stdin=owned[0],
        stdout=owned[1],
        stderr=owned[2],
        status=-1,
        data=request.stdin,
        output_cap=request.limits.output_bytes,
        status_cap=0,
        deadline=time.monotonic() + request.limits.wall_seconds,
        check=_ends_orphans(process),
        begun=None,
        period=_PERIOD,
    ).run()


def _ends_orphans(process: subprocess.Popen[bytes]) -> Callable[[], str | None]:
    """Once the program is gone, what it left behind must not hold its pipes open."""

    def check() -> None:
        if process.poll() is not None:
            _end(process)

    return check


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(flow: Flow, code: int) -> Result:
    return Result(
        started=True,
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        stdout=bytes(flow.stdout),
        stderr=bytes(flow.stderr),
        limits_hit=frozenset({flow.over} if flow.over else ()),
    )


def _read_back(work: str, limits: Limits) -> tuple[FileEntry, ...] | None:
    """The work directory afterwards, links named as such; None where it cannot be read whole."""
    try:
        reading = read_tree(work, Caps(files=limits.work_files, bytes=limits.work_bytes, depth=_DEPTH))
    except (TreeError, OSError):
        return None
    odd = (FileEntry(path, *_odd(work, path)) for path, _ in reading.left_out)
    return tuple(sorted([*reading.entries, *odd]))


def _odd(work: str, path: bytes) -> tuple[str, int, bytes]:
    whole = os.path.join(work.encode(), path)
    return ("link", 0o777, os.readlink(whole)) if os.path.islink(whole) else ("special", 0, b"")
