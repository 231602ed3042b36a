"""Waiting for the program, and limits over all processes where no cgroup counts them: the twin of watch.h."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import struct

from programsmith.payload.init.calls import WATCH, WORKSPACE, Status, libc
from programsmith.payload.init.request import Request

OVER_CPU, OVER_MEMORY, OVER_WORK, OVER_WALL, OVER_PIDS = 1, 2, 4, 8, 16
TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD = 0.05  # seconds between looks at all processes


def cpu_of(whom: int) -> int:
    """Microseconds of this process itself, or of all that it reaped."""
    used = resource.getrusage(whom)
    return round((used.ru_utime + used.ru_stime) * 1e6)


class Watch:
    """Counts over all live processes, where no cgroup does: all in sight but the first, or all of an `owner`."""

    def __init__(self, proc: int, most: int, owner: int | None = None) -> None:
        self._proc = proc
        self._most = most
        self.owner = owner
        self._last = self.lost = self.cpu = self.memory = 0
        self._tick = 10**6 // os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        """Measure now. Time of processes that nobody waited for stays counted."""
        total, pages, pids = cpu_of(resource.RUSAGE_CHILDREN), 0, self.pids()
        for pid in pids:
            ticks, resident = self._one(pid)
            total += ticks * self._tick
            pages += resident
        self.lost += max(self._last - total, 0)
        self._last = total
        self.cpu = total + self.lost
        self.memory = pages * os.sysconf("SC_PAGESIZE")
        if self.memory > self._most:
            self.memory = self._refined(pids)

    def pids(self) -> list[str]:
        """Processes of the launch."""
        return [pid for pid in os.listdir(self._proc) if pid.isdigit() and self._is_ours(pid)]

    def _is_ours(self, pid: str) -> bool:
        if self.owner is None:
            return pid != "1"
        try:
            user = os.stat(pid, dir_fd=self._proc).st_uid
            return (user or self._field(pid, "status", b"Uid:")) == self.owner  # one that hides its entries is root's
        except OSError:
            return False

    def _one(self, pid: str) -> tuple[int, int]:
        try:
            words = self._read(f"{pid}/stat").rpartition(b")")[2].split()
            return sum(map(int, words[11:15])), int(self._read(f"{pid}/statm").split()[1])
        except (OSError, IndexError):
            return 0, 0

    def _refined(self, pids: list[str]) -> int:
        """Bytes where pages that several processes share count once; asked in doubt only, since it takes long."""
        if self.owner is None:
            return sum(map(self._proportional, pids))
        libc.setfsuid(self.owner)  # reading another's memory map takes being it
        libc.setfsgid(self.owner)
        try:
            return sum(map(self._proportional, pids))
        finally:
            libc.setfsgid(os.getegid())
            libc.setfsuid(os.geteuid())

    def _proportional(self, pid: str) -> int:
        """Each page divided by how many map it; where that is closed to us, all that is shared counts whole."""
        try:
            return self._field(pid, "smaps_rollup", b"Pss:") * 1024
        except OSError:
            pass
        try:
            return (self._field(pid, "status", b"RssAnon:") + self._field(pid, "status", b"RssShmem:")) * 1024
        except OSError:
            return 0

    def _field(self, pid: str, file: str, name: bytes) -> int:
        words = self._read(f"{pid}/{file}").split()
        return int(words[words.index(name) + 1]) if name in words else 0

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
        woken = None if over else signal.sigtimedwait(awaited, PERIOD)
        if over or (woken and woken.si_signo == signal.SIGTERM):
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
    cpu = cpu_of(resource.RUSAGE_CHILDREN) + watch.lost
    if r.has(WATCH) and cpu > r.number["cpu_us"]:
        over |= OVER_CPU
    over |= more(True) if more else 0
    room = os.statvfs(r.work)
    if not r.has(WORKSPACE) and (not room.f_bfree or not room.f_ffree):
        over |= OVER_WORK
    Status.say(b"X", struct.pack("<4Q", ended, cpu, over, cpu_of(resource.RUSAGE_SELF)))
