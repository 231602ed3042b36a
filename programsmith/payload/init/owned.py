"""One launch where no namespace can be made: what tells its processes and files from others' is a user of its own.

Arguments: OWNER REQUEST_FD STATUS_FD, or OWNER alone: end what is left of it. This process stays root, out of the
program's reach, and is the parent of all that the program leaves. Root may signal everyone, so whatever ends or removes
something becomes that user first. SIGTERM asks for an end. The twin of owner.h and of what payload/launch does without
namespaces.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import time

from programsmith.payload.init import calls
from programsmith.payload.init.calls import FOLDER, Status, call, fail, libc
from programsmith.payload.init.init import LAID, lay_files, raise_oom_score, start_program
from programsmith.payload.init.request import Request
from programsmith.payload.init.room import Room
from programsmith.payload.init.walk import collect
from programsmith.payload.init.watch import OVER_WORK, Watch, end_all, supervise

TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PASSES = 100_000
PATIENCE = 5.0  # seconds for processes of an earlier launch to die
SPARE_ENTRIES = 8


def become(owner: int) -> None:
    """Become the user, in no group. A signal to everyone that root sends reaches everyone, so this is sure of it."""
    os.setgroups([])
    os.setresgid(owner, owner, owner)
    os.setresuid(owner, owner, owner)
    if not owner or os.getresuid() != (owner, owner, owner):
        raise OSError(22, f"{owner} is no user to become")  # EINVAL


def as_owner(owner: int, work: Callable[[], None]) -> bool:
    """Do something in a process of the user's; False where somebody killed it.

    What fails there has been reported, and ends this one too.
    """
    child = os.fork()
    if child == 0:
        try:
            become(owner)
            work()
        except OSError as error:
            fail("what the launch left", error)
        finally:
            os._exit(0)
    ended = wait(child)
    if os.WIFEXITED(ended) and ended:
        os._exit(1)
    return os.WIFEXITED(ended)


def wait(child: int) -> int:
    """How a process of the user's ended. Others of that user may stop it."""
    while os.WIFSTOPPED(ended := os.waitpid(child, os.WUNTRACED)[1]):
        os.kill(child, signal.SIGCONT)
    return ended


def kill_all(owner: int) -> None:
    """Kill every process of the user. They may kill who comes to do it as well: then another one goes."""

    def work() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    while not as_owner(owner, work):
        pass


def remove_attributes(place: bytes) -> None:
    """Remove what its user wrote beside what lies in a place."""
    names: list[str] = []
    with contextlib.suppress(OSError):  # a file system that keeps none
        names = os.listxattr(place)
    for name in names:
        if name.startswith(("user.", "system.posix_acl_")):
            os.removexattr(place, name)


class Cleaner:
    """Removes what a user has in a place, or as root everything: no more than two directories are open at a time."""

    def __init__(self, owner: int | None) -> None:
        self._owner = owner
        self._number = 0

    def empty(self, place: bytes) -> None:
        """Empty a place; it stays. Raises OSError."""
        if self._owner is None:
            os.chown(place, 0, 0)
        elif os.stat(place).st_uid == self._owner:
            os.chmod(place, 0o755)  # noqa: S103 - as it was made
            remove_attributes(place)
        top = os.open(place, FOLDER)
        try:
            for _ in range(MOST_PASSES):
                if not self._pass(top):
                    return
        finally:
            os.close(top)
        raise OSError(40, "it does not become empty", place)  # ELOOP

    def _pass(self, top: int) -> bool:
        """Remove what lies in the place now; whether there was anything."""
        found = False
        for name in os.listdir(top):
            facts = os.stat(name, dir_fd=top, follow_symlinks=False)
            if facts.st_uid != self._owner and self._owner is not None:
                continue
            found = True
            if stat.S_ISDIR(facts.st_mode):
                self._lift(top, name)
            else:
                os.unlink(name, dir_fd=top)
        return found

    def _lift(self, top: int, name: str) -> None:
        """Remove a directory; directories in it move up and are removed later."""
        self._open_up(name, top)
        folder = os.open(name, FOLDER, dir_fd=top)
        try:
            for inner in os.listdir(folder):
                if not stat.S_ISDIR(os.stat(inner, dir_fd=folder, follow_symlinks=False).st_mode):
                    os.unlink(inner, dir_fd=folder)
                    continue
                self._open_up(inner, folder)  # its parent is an entry of its own
                os.rename(inner, self._fresh(top), src_dir_fd=folder, dst_dir_fd=top)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)

    def _open_up(self, name: str, at: int) -> None:
        """Make a directory one that we may change; a root without power over modes makes it its own."""
        if self._owner is None:
            os.chown(name, 0, 0, dir_fd=at)
        else:
            os.chmod(name, 0o700, dir_fd=at)

    def _fresh(self, top: int) -> str:
        """A name that the place does not have."""
        while True:
            self._number += 1
            try:
                os.stat(str(self._number), dir_fd=top, follow_symlinks=False)
            except FileNotFoundError:
                return str(self._number)


def empty_places(r: Request, owner: int) -> None:
    """Nothing of the launch stays. No process of it is left when this is called."""

    def work() -> None:
        cleaner = Cleaner(owner)
        for place in r.places:
            cleaner.empty(place)

    if not as_owner(owner, work):
        os._exit(1)


def end_earlier(watch: Watch, owner: int) -> None:
    """End what an earlier launch left because its first process was killed."""
    until = time.monotonic() + PATIENCE
    while watch.pids():
        if time.monotonic() > until:
            fail("processes of an earlier launch", OSError(16, os.strerror(16)))  # EBUSY
        kill_all(owner)
        time.sleep(0.005)


class Places:
    """Whether the places hold more than they may: as their own file systems say, else by walking them."""

    def __init__(self, r: Request, owner: int) -> None:
        most_bytes, most_files = r.number["work_bytes"], r.number["work_files"]
        rooms = {place: os.statvfs(place) for place in r.places}
        self._bounded = [
            place
            for place, room in rooms.items()
            if 0 < room.f_files <= most_files + SPARE_ENTRIES and 0 < room.f_blocks <= -(-most_bytes // room.f_frsize)
        ]
        walked = [os.fsdecode(place) for place in r.places if place not in self._bounded]
        self._walked = Room(walked, most_bytes, most_files, owner)

    def passed(self, final: bool) -> int:  # noqa: FBT001 - the last look
        """Bits of the limits that are passed by now."""
        rooms = [os.statvfs(place) for place in self._bounded] if final else []
        full = any(not room.f_bfree or not room.f_ffree for room in rooms)
        return OVER_WORK if full or self._walked.outgrown(final) else 0


def guard() -> None:
    """Nothing reaches this process; it dies with whoever started it and keeps what the program leaves."""
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    call("parent death signal", libc.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    call("no new privileges", libc.prctl(calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    call("subreaper", libc.prctl(calls.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def launch(r: Request, owner: int, watch: Watch) -> None:
    """Start the program as the user, watch it, report, leave nothing."""

    def enter() -> None:
        try:
            become(owner)
            call("dumpable", libc.prctl(calls.PR_SET_DUMPABLE, 1, 0, 0, 0))  # its entries in /proc are needed
            lay_files(r)
            for place in r.places:
                with contextlib.suppress(PermissionError):  # one that is everybody's keeps its own
                    os.utime(place, ns=LAID)
        except OSError as error:
            fail("work directory", error)

    def kill() -> None:
        kill_all(owner)

    raise_oom_score()
    program = start_program(r, enter)
    if program:
        supervise(r, program, watch, Places(r, owner).passed, kill)
        if r.has(calls.COLLECT):
            collect(r)
    else:
        end_all(kill)
    empty_places(r, owner)
    Status.say(b"Z")


def main() -> int:
    """Run one launch, or end one."""
    owner, proc = int(sys.argv[1]), os.open("/proc", FOLDER)
    if len(sys.argv) == 2:  # noqa: PLR2004 - the owner alone
        Status.fd = 2
        end_earlier(Watch(proc, 0, 0, owner), owner)
        return 0
    request_fd, Status.fd = map(int, sys.argv[2:])
    os.set_inheritable(Status.fd, False)
    r = Request(request_fd)
    watch = Watch(proc, r.number["memory"], r.number["shared"], owner)
    guard()
    end_earlier(watch, owner)
    empty_places(r, owner)
    launch(r, owner, watch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
