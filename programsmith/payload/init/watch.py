"""Waiting for the program, and limits over all processes where no cgroup counts them: the twin of watch.h."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import struct

from programsmith.payload.init.calls import WATCH, WORKSPACE, Status
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
    """Counts over all live processes, where no cgroup does."""

    def __init__(self, proc: int) -> None:
        self._proc = proc
        self._last = self.lost = self.cpu = self.memory = 0
        self._tick = 10**6 // os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        """Measure now. Time of processes that nobody waited for stays counted."""
        total, shared_most, self.memory = cpu_of(resource.RUSAGE_CHILDREN), 0, 0
        for pid in os.listdir(self._proc):
            if pid.isdigit() and pid != "1":
                ticks, resident, shared = self._one(pid)
                total += ticks * self._tick
                self.memory += resident - shared
                shared_most = max(shared_most, shared)
        self.lost += max(self._last - total, 0)
        self._last = total
        self.cpu = total + self.lost
        self.memory = (self.memory + shared_most) * os.sysconf("SC_PAGESIZE")

    def _one(self, pid: str) -> tuple[int, int, int]:
        try:
            words = self._read(f"{pid}/stat").rpartition(b")")[2].split()
            pages = self._read(f"{pid}/statm").split()
            return sum(map(int, words[11:15])), int(pages[1]), int(pages[2])
        except (OSError, IndexError):
            return 0, 0, 0

    def _read(self, name: str) -> bytes:
        fd = os.open(name, os.O_RDONLY, dir_fd=self._proc)
        try:
            return os.read(fd, 4096)
        finally:
            os.close(fd)


def wait_for(program: int, r: Request, watch: Watch, more: Callable[[bool], int] | None) -> tuple[int, int]:
    """Reap until the program is dead: its wait status and the limits that were passed."""
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
        if over:
            os.kill(-1, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, PERIOD)


def end_all() -> None:
    """Kill and reap whatever is left."""
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def supervise(r: Request, program: int, proc: int, more: Callable[[bool], int] | None = None) -> None:
    """Wait for the end, then for the death of everything else; report.

    `more` is asked now and then, and at the end (True), for further limits that were passed.
    """
    watch = Watch(proc)
    ended, over = wait_for(program, r, watch, more)
    end_all()
    cpu = cpu_of(resource.RUSAGE_CHILDREN) + watch.lost
    if r.has(WATCH) and cpu > r.number["cpu_us"]:
        over |= OVER_CPU
    over |= more(True) if more else 0
    room = os.statvfs(r.work)
    if not r.has(WORKSPACE) and (not room.f_bfree or not room.f_ffree):
        over |= OVER_WORK
    Status.say(b"X", struct.pack("<4Q", ended, cpu, over, cpu_of(resource.RUSAGE_SELF)))
