"""Waiting for the program, and limits over all processes where no cgroup counts them: the twin of watch.h."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
import time

from programsmith.payload.init.calls import WATCH, WORKSPACE, Status, fail, libc
from programsmith.payload.init.request import Request

OVER_CPU, OVER_MEMORY, OVER_WORK, OVER_WALL, OVER_PIDS = 1, 2, 4, 8, 16
TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD = 0.05  # seconds between looks at all processes
PATIENCE = 2.0  # seconds
_SHARED = (b" /dev/zero (deleted)", b" [anon_shmem:")  # what the kernel calls such memory in a map


def cpu_of(whom: int) -> int:
    """Microseconds of this process itself, or of all that it reaped."""
    used = resource.getrusage(whom)
    return round((used.ru_utime + used.ru_stime) * 1e6)


def shared_now() -> int:
    """Bytes of files in memory and of shared mappings, on the whole host."""
    host = ctypes.create_string_buffer(128)
    libc.sysinfo(host)
    return int(struct.unpack_from("<Q", host, 48)[0] * struct.unpack_from("<I", host, 104)[0])


class Watch:
    """Counts over all live processes, where no cgroup does: all in sight but the first, or all of an `owner`.

    `most` is what they may hold, `shared` by how much what is shared may grow on the host before they are suspected,
    `patience` for how many seconds a sandbox beside may then end. `bounded`: a container's own group
    bounds what they share, which is then no matter of what others of the host do.
    """

    def __init__(
        self, proc: int, most: int, shared: int, owner: int | None = None, *, bounded: bool = False, patience: float = 0
    ) -> None:
        self._proc = proc
        self._most = most
        self._shared = 1 << 64 if bounded else shared_now() + shared
        self.suspect = 0  # bytes on the whole host when the launch was suspected
        self.owner = owner
        self._patience = patience
        self._last = self.lost = self.cpu = self.memory = 0
        self._tick = 10**6 // os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        """Measure now. Time of processes that nobody waited for stays counted."""
        total, held, pids = cpu_of(resource.RUSAGE_CHILDREN), 0, self.pids()
        for pid in pids:
            ticks, resident = self._one(pid)
            total += ticks * self._tick
            held += resident
        self.lost += max(self._last - total, 0)
        self._last = total
        self.cpu = total + self.lost
        self.memory = held
        if self.memory > self._most:
            self.memory = self._as_owner(lambda: sum(map(self._proportional, pids)))
        if self.memory <= self._most and not self.suspect and shared_now() > self._shared:
            self.suspect = shared_now() if self._as_owner(lambda: any(map(self._shares, pids))) else 0

    def convict(self) -> int:
        """Which limit a suspected launch had passed, all of whose processes are dead.

        It may have hidden shared memory that no process has in its tables any more, having dropped or unmapped most of
        it: that is free now. Where it was less than it may have, others took it, and nothing is known of the launch. A
        sandbox beside is suspected at the same moment, and may be the one.
        """
        until = time.monotonic() + self._patience
        while self.suspect and self.suspect - shared_now() <= self._most:
            if time.monotonic() < until:
                time.sleep(PERIOD)
                continue
            fail("memory that others share grew meanwhile", OSError(11, os.strerror(11)))  # EAGAIN
        return OVER_MEMORY if self.suspect else 0

    def pids(self) -> list[str]:
        """Processes of the launch."""
        return [pid for pid in os.listdir(self._proc) if pid.isdigit() and self._is_ours(pid)]

    def _is_ours(self, pid: str) -> bool:
        if self.owner is None:
            return pid != "1"
        try:
            user = os.stat(pid, dir_fd=self._proc).st_uid
            return (user or self._fields(pid, "status", b"Uid:")) == self.owner  # one that hides its entries is root's
        except OSError:
            return False

    def _one(self, pid: str) -> tuple[int, int]:
        try:
            words = self._read(f"{pid}/stat").rpartition(b")")[2].split()
            return sum(map(int, words[11:15])), self._fields(pid, "status", b"VmRSS:", b"VmPTE:") * 1024
        except (OSError, IndexError):
            return 0, 0

    def _as_owner(self, ask: Callable[[], int]) -> int:
        """What is asked about memory maps, which takes long and is asked in doubt only."""
        if self.owner is None:
            return ask()
        libc.setfsuid(self.owner)  # reading another's memory map takes being it
        libc.setfsgid(self.owner)
        try:
            return ask()
        finally:
            libc.setfsgid(os.getegid())
            libc.setfsuid(os.geteuid())

    def _proportional(self, pid: str) -> int:
        """Page tables and each page divided by how many map it; where that is closed, what is shared counts whole."""
        try:
            tables = self._fields(pid, "status", b"VmPTE:")
            try:
                return (tables + self._fields(pid, "smaps_rollup", b"Pss:")) * 1024
            except OSError:
                return (tables + self._fields(pid, "status", b"RssAnon:", b"RssShmem:")) * 1024
        except OSError:
            return 0

    def _shares(self, pid: str) -> bool:
        """Whether a process maps memory that it shares and that is no file; where that is closed to us, it does."""
        try:
            with open(os.open(f"{pid}/maps", os.O_RDONLY, dir_fd=self._proc), "rb") as maps:
                return any(mark in line for line in maps for mark in _SHARED)
        except PermissionError:
            return True
        except OSError:
            return False

    def _fields(self, pid: str, file: str, *names: bytes) -> int:
        """The sum of these numbers of a file whose lines after the first are `name number`; 0 for one that is absent.

        The first line may hold what a process calls itself.
        """
        lines = self._read(f"{pid}/{file}").split(b"\n")[1:]
        return sum(int(line.split()[1]) for line in lines if line.startswith(names))

    def _read(self, name: str) -> bytes:
        fd = os.open(name, os.O_RDONLY, dir_fd=self._proc)
        try:
            return os.read(fd, 4096)
        finally:
            os.close(fd)


def wait_for(
    program: int, r: Request, watch: Watch, more: Callable[[bool], int] | None, kill: Callable[[], None]
) -> tuple[int, int]:
    """Reap until the program is dead: its wait status and the limits that were passed. SIGTERM asks for its end."""
    over = 0
    while True:
        dead, ended = os.waitpid(-1, os.WNOHANG if r.has(WATCH) else 0)
        if dead == program:
            return ended, over
        if dead:
            continue
        watch.look()
        over |= OVER_CPU if watch.cpu > r.number["cpu_us"] else 0
        over |= OVER_MEMORY if watch.memory > r.number["memory"] else 0
        over |= more(False) if more else 0
        awaited = {signal.SIGCHLD} | ({signal.SIGTERM} if watch.owner is not None else set())
        woken = None if over or watch.suspect else signal.sigtimedwait(awaited, PERIOD)
        if over or watch.suspect or (woken and woken.si_signo == signal.SIGTERM):
            kill()


def kill_all() -> None:
    """Kill every process in sight but this one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def end_all(kill: Callable[[], None] = kill_all) -> None:
    """Kill and reap whatever is left."""
    while True:
        kill()
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def supervise(
    r: Request,
    program: int,
    watch: Watch,
    more: Callable[[bool], int] | None = None,
    kill: Callable[[], None] = kill_all,
) -> None:
    """Wait for the end, then for the death of everything else; report.

    `more` is asked now and then, and at the end (True), for further limits that were passed. `kill` ends every process
    of the launch.
    """
    ended, over = wait_for(program, r, watch, more, kill)
    end_all(kill)
    over |= watch.convict()
    cpu = cpu_of(resource.RUSAGE_CHILDREN) + watch.lost
    if r.has(WATCH) and cpu > r.number["cpu_us"]:
        over |= OVER_CPU
    over |= more(True) if more else 0
    room = os.statvfs(r.work)
    if not r.has(WORKSPACE) and (not room.f_bfree or not room.f_ffree):
        over |= OVER_WORK
    Status.say(b"X", struct.pack("<4Q", ended, cpu, over, cpu_of(resource.RUSAGE_SELF)))
