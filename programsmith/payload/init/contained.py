"""The first process of a container that is a sandbox: starts one program as an ordinary user and reports on it.

Arguments: NAME UID SECONDS PLACE...; in the current folder NAME/request is the request, NAME/report becomes the report.
The folder is root's alone, and so is this process: the program can neither reach the one nor signal the other. The
engine has made the container; what is left to do is to become an ordinary user, to filter calls, to count and to end
everything.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time

from programsmith.payload.init import calls
from programsmith.payload.init.calls import Status, call, fail, libc
from programsmith.payload.init.init import raise_oom_score, start_program
from programsmith.payload.init.request import Request
from programsmith.payload.init.room import Room
from programsmith.payload.init.watch import OVER_MEMORY, OVER_PIDS, OVER_WALL, OVER_WORK, Watch, end_all, supervise

GROUPS = "/sys/fs/cgroup"
COUNTS = {
    OVER_MEMORY: ((f"{GROUPS}/memory/memory.oom_control", "oom_kill"), (f"{GROUPS}/memory.events", "oom_kill")),
    OVER_PIDS: ((f"{GROUPS}/pids/pids.events", "max"), (f"{GROUPS}/pids.events", "max")),
}
"""Where either version of control groups counts what it refused."""
OPEN_FILES = 65536  # a tree is measured with one descriptor per level


class Bounds:
    """Limits that hold for the whole container, besides those that every init looks after."""

    def __init__(self, room: Room, wall: float) -> None:
        self._room = room
        self._until = time.monotonic() + wall
        self._before = self._refused()

    def passed(self, final: bool) -> int:  # noqa: FBT001 - the last look
        """Bits of the limits that are passed by now."""
        over = OVER_WORK if self._room.outgrown(final) else 0
        over |= OVER_WALL if not final and time.monotonic() > self._until else 0
        if final:
            over |= sum(bit for bit, number in self._refused().items() if number > self._before[bit])
        return over

    @staticmethod
    def _refused() -> dict[int, int]:
        """How often the container's control group refused memory or a process."""
        return {bit: sum(count(*place) for place in places) for bit, places in COUNTS.items()}


def count(file: str, key: str) -> int:
    """The number after `key` in a file of `key number` lines, 0 where there is none."""
    try:
        with open(file, encoding="ascii") as lines:
            return next((int(n) for word, n in (line.split() for line in lines) if word == key), 0)
    except (OSError, ValueError):
        return 0


def open_places(places: list[str], uid: int) -> None:
    """Make the top of each writable place the user's, whatever an earlier run did to it."""
    for place in places:
        os.chown(place, 0, 0)  # this root changes modes of what is its own only
        os.chmod(place, 0o755)  # noqa: S103 - the user's own
        os.chown(place, uid, uid)


def become(uid: int, cwd: bytes) -> None:
    """Become an ordinary user in no group, whose /proc entries are its own, in its folder."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    call("dumpable", libc.prctl(calls.PR_SET_DUMPABLE, 1, 0, 0, 0))
    try:
        os.chdir(cwd)
    except OSError as error:
        fail("current directory", error)


def main() -> int:
    """Run one program."""
    name, uid, wall, places = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    os.chmod(".", 0o700)
    Status.fd = os.open(f"{name}/report", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    request = Request(os.open(f"{name}/request", os.O_RDONLY | os.O_CLOEXEC))
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    call("no new privileges", libc.prctl(calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    try:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, most), most))
        open_places(places, uid)
    except OSError as error:
        fail("writable places", error)
    bounds = Bounds(Room(places, request.number["work_bytes"], request.number["work_files"]), wall)
    raise_oom_score()
    program = start_program(request, lambda: become(uid, request.cwd))
    if program:
        proc = os.open("/proc", calls.FOLDER)
        watch = Watch(proc, request.number["memory"], 0, bounded=True)  # by the limit of its container
        supervise(request, program, watch, bounds.passed)
    else:
        end_all()
    Status.say(b"Z")
    return 0


if __name__ == "__main__":
    sys.exit(main())
