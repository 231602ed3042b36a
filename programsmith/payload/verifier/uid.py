"""The uid launcher: launches in a container that lets nobody make namespaces, told apart by a user for each slot.

The grader is root with exactly CHOWN, DAC_OVERRIDE, KILL, SETGID and SETUID. What holds the five properties: the user
of a slot is nobody else's; Landlock lets a program read, write and execute what is listed and nothing else, so that
files, arguments and memory of others are closed whatever their modes; a filter leaves no socket to make; afterwards all
processes of the user are killed and awaited and its files removed. Memory, CPU and, where a place is no file system of
its own, what lies in it are watched and not enforced by the kernel. The root is the container's own: what a launch is
shown in addition is copied to where it must appear. No filter can tell which file a call maps as code, only a file
system refuses it (`noexec`): where there is one for it, a tree of scripts lies there, and what is not executed by its
name is a link to it.

In: a config with the first user's number, the places of each slot (a directory as requests name it, and the one that
it is here), the place of a tree of scripts, the paths that may be read (the view) and the launch server, where the
image has one; else each launch starts the init in Python.

What the kernel counts by user it counts over all containers of a host that share its users: so every verifier takes
other ones (`spread`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any

from programsmith.payload.init.owned import Cleaner
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request
from programsmith.payload.verifier.server import Launched, Servers
from programsmith.payload.verifier.slots import Slot, Slots
from programsmith.payload.verifier.wire import Bind, Flag, Order, Right, Setup, encode_setup

_TEMPORARY = "/tmp"  # noqa: S108 - as requests name it
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_READABLE = ("/dev/urandom", "/dev/random", "/proc/self")
_LAST_UID = (1 << 32) - 1  # means nobody to the calls that change users
_USERS = 1_000_000  # from here on, numbers of owners do not fit into every archive
_FREE_ENTRIES = 1 << 20  # a file system with more bounds nothing
_SILENCE, _LINGER = 10.0, 0.05  # seconds


class UidLauncher(IsolatedLauncher):
    """Launcher over a user per slot."""

    name = "uid"
    hidden = ""
    marks = False

    def __init__(self, config: dict[str, Any]) -> None:
        self._places: list[dict[str, str]] = config["places"]
        if not 0 < config["uid"] <= config["uid"] + len(self._places) < _LAST_UID:
            raise LauncherError(f"uid: wanted the number of an ordinary user, got {config['uid']!r}")
        super().__init__(config, Slots(None, threads=False, most=len(self._places)))
        self._servers = Servers(config["server"]) if config.get("server") else None
        held = config.get("tree")
        self._held: str | None = held if held and _holds_no_code(held) else None
        self._shown: dict[str, tuple[object, ...]] = {}
        self._showing = threading.Lock()
        self._begun: set[int] = set()

    def _twin(self, config: dict[str, Any]) -> UidLauncher:
        return UidLauncher(config)

    def close(self) -> None:
        """End the servers. No launch may be under way."""
        if self._servers:
            self._servers.close()
        super().close()

    def enforced(self) -> tuple[str, ...]:
        """Limits that the kernel enforces."""
        places = [place for one in self._places for place in one.values()]
        rooms = [os.statvfs(place) for place in places if os.path.ismount(place)]
        bounded = len(rooms) == len(places) and all(0 < r.f_files < _FREE_ENTRIES for r in rooms)
        code = self._held is not None and all(map(_holds_no_code, places))
        return (*(("work", "work_files") if bounded else ()), *(("code",) if code else ()), "pids", "output", "wall")

    def _spawn(self, launch: Launch, request: int) -> _Served | _PythonInit:
        for mount in launch.request.mounts:
            self._show(mount)
        slot = launch.slot.index
        self._begin(slot)
        owner = self._config["uid"] + slot
        if self._servers:
            return _Served(self._servers.launch(slot, None, lambda: self._setup(slot), b"-", request), owner)
        return _PythonInit(owner, request)

    def _prepare(self, slot: Slot) -> None:
        self._begin(slot.index)
        if self._servers:
            self._servers.prepare(slot.index, self._setup(slot.index))

    def _begin(self, slot: int) -> None:
        """Before the first launch of a slot its places are emptied of what anybody left there."""
        if slot in self._begun:
            return
        for place in self._places[slot].values():
            if not os.stat(place).st_mode & stat.S_ISVTX:
                Cleaner(None).empty(os.fsencode(place))
                _give(place, self._config["uid"] + slot)
        self._begun.add(slot)

    def _setup(self, slot: int) -> bytes:
        owner = self._config["uid"] + slot
        return encode_setup(Setup(confined=True, owner=owner, inside=owner, places=tuple(self._places[slot].values())))

    def _binds(self, launch: Launch) -> list[Bind]:
        del launch
        return []

    def _order(self, launch: Launch) -> Order:
        places = self._places[launch.slot.index]
        cwd = launch.request.surroundings.cwd
        if launch.workspace or cwd not in places:
            raise LauncherError(f"no place for {cwd} here; there are {', '.join(places)}")
        limits, files = launch.request.limits, launch.request.files
        if sum(len(e.content) for e in files) > limits.work_bytes or len(files) > limits.work_files:
            raise LauncherError(f"the case's own files do not fit into {limits.work_bytes} bytes")
        order = super()._order(launch)
        return dataclasses.replace(
            order,
            flags=order.flags | Flag.FENCE_FILES | Flag.WATCH,
            work=places[cwd],
            cwd=places[cwd],
            env=_translated(order.env, places),
            paths=self._rules(launch.request, places, free=bool(order.flags & Flag.EXEC_WORK)),
            places=tuple(places.values()),
        )

    def _rules(self, request: Request, places: dict[str, str], *, free: bool) -> tuple[tuple[int, str], ...]:
        """Rights by path; `free`: what is in the places may be executed."""
        write = Right.READ | Right.WRITE | (Right.EXECUTE if free else 0)
        read, execute, both = int(Right.READ), int(Right.EXECUTE | Right.READ), int(Right.READ | Right.WRITE)
        return (
            *[(execute, path) for path in self._executables(request)],
            *[(read, m.target) for m in (*self._view.mounts, *request.mounts)],
            *[(read, held) for held in map(self._held_at, request.mounts) if held],
            *[(read, path) for path in _READABLE],
            *[(int(write), path) for path in places.values()],
            *[(both, path) for path in _WRITABLE_DEVICES],
        )

    def _show(self, mount: Mount) -> None:
        """Copy what is shown to where it must appear, unless it is there. Raises LauncherError."""
        facts = os.stat(mount.source)
        mark = (facts.st_dev, facts.st_ino, facts.st_mtime_ns, mount.scripts)
        with self._showing:
            if os.path.realpath(mount.source) == mount.target or self._shown.get(mount.target) == mark:
                return
            try:
                self._lay(mount)
            except OSError as fault:
                raise LauncherError(
                    f"{mount.target}: what is shown there cannot be copied ({fault}); make it a writable volume"
                ) from fault
            self._shown[mount.target] = mark

    def _held_at(self, mount: Mount) -> str | None:
        """Where the files of a tree of scripts lie; None where they lie where they appear."""
        if mount.scripts is None or self._held is None:
            return None
        return os.path.join(self._held, os.path.basename(mount.target))

    def _lay(self, mount: Mount) -> None:
        held = self._held_at(mount)
        if held is None:
            _copy(mount.source, mount.target)
            return
        executed = frozenset(mount.scripts or ())

        def lay(source: str, target: str) -> str:
            if target in executed:
                return shutil.copy2(source, target)
            os.symlink(held + target.removeprefix(mount.target), target)
            return target

        _copy(mount.source, held)  # whole: what follows a link finds its neighbours
        _copy(mount.source, mount.target, lay)


def spread(stages: Sequence[dict[str, Any]]) -> None:
    """Give the stages of one verifier other users, by chance, of those from the first one on that there are here.

    Processes of a grading that runs at the same time, in a container on the same host, would else be counted into the
    limits of this one: a case that takes all that it may would leave none to honest work. Raises OSError.
    """
    first = min(stage["uid"] for stage in stages)
    width = max(stage["uid"] + len(stage["places"]) for stage in stages) - first
    room = (_end_of_users(first) - first) // max(1, width)
    shift = int.from_bytes(os.urandom(8), "big") % room * width if first > 0 and room > 0 else 0
    for stage in stages:
        stage["uid"] += shift


def _end_of_users(first: int) -> int:
    """Where the numbers end that users from `first` on can have here. Raises OSError."""
    with open("/proc/self/uid_map", encoding="ascii") as lines:
        ranges = [(start, start + count) for start, _, count in (map(int, line.split()) for line in lines)]
    return min(_USERS, max((end for start, end in ranges if start <= first < end), default=first))


class _Served:
    """A launch in the hands of a server; where that fails, nothing of its user's stays alive."""

    def __init__(self, inner: Launched, owner: int) -> None:
        self._inner = inner
        self._owner = owner
        self.stdin, self.stdout, self.stderr, self.status = inner.stdin, inner.stdout, inner.stderr, inner.status

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for the word that all processes are dead, where the report did not say so; why it did not come."""
        fault = self._inner.end(kill=kill, done=done)
        return _ended(self._owner, fault) if fault else None


class _PythonInit:
    """The init in Python, for one launch."""

    def __init__(self, owner: int, request: int) -> None:
        self._owner = owner
        status, report = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*_words(owner), str(request), str(report)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(request, report),
                cwd="/",
                env=_ENV,
                start_new_session=True,
            )
        except OSError:
            os.close(status)
            raise
        finally:
            os.close(report)
        self.status = status
        self.stdin, self.stdout, self.stderr = (
            _taken(pipe) for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for the init, asking it to end what it started where that lingers; why it did not end by itself."""
        patient = _SILENCE if done else _LINGER
        for send, seconds in ((0, 0 if kill else patient), (signal.SIGTERM, _SILENCE), (signal.SIGKILL, None)):
            if self._process.poll() is None:
                self._process.send_signal(send)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        code = self._process.returncode
        return None if code in {0, 1} else _ended(self._owner, f"the init ended with {code}")


_HOME = __file__.rsplit("/programsmith/", 1)[0]  # a folder, or the archive that this is in
_ENV = {"PYTHONPATH": _HOME}


def _words(owner: int) -> list[str]:
    return [sys.executable, "-S", "-s", "-B", "-P", "-m", "programsmith.payload.init.owned", str(owner)]


def _ended(owner: int, fault: str) -> str:
    """The fault of an init that could not end what it started, which is ended here."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(_words(owner), check=False, capture_output=True, cwd="/", env=_ENV, timeout=_SILENCE)
        if done.returncode == 0:
            return fault
    return f"{fault}; and processes of its user outlive it"


def _taken(pipe: Any) -> int:
    with pipe:
        return os.dup(pipe.fileno())


def _give(place: str, owner: int) -> None:
    """Make a place the user's. Raises OSError."""
    os.chown(place, 0, 0)  # this root changes modes of what is its own only
    os.chmod(place, 0o755)  # noqa: S103 - Landlock and its owner hold it
    os.chown(place, owner, owner)


def _translated(env: Any, places: dict[str, str]) -> tuple[tuple[bytes, bytes], ...]:
    """The environment with places called as they are here; where temporary files go is said if it is elsewhere."""
    moved = {os.fsencode(name): os.fsencode(place) for name, place in places.items() if name != place}
    found = dict(env)
    for name, value in found.items():
        for inside, here in moved.items():
            if value == inside or value.startswith(inside + b"/"):
                found[name] = here + value[len(inside) :]
    if os.fsencode(_TEMPORARY) in moved:
        found.setdefault(b"TMPDIR", moved[os.fsencode(_TEMPORARY)])
    return tuple(found.items())


def _holds_no_code(place: str) -> bool:
    """Whether the kernel lets nobody map a file of the place as code. Raises OSError."""
    with tempfile.TemporaryFile(dir=place) as file:
        file.truncate(mmap.PAGESIZE)
        try:
            mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
        except PermissionError:
            return True
    return False


def _copy(source: str, target: str, lay: Callable[[str, str], object] = shutil.copy2) -> None:
    """Fill `target`, which may be a volume, with a copy of `source`, which everybody may read, each file by `lay`.

    Raises OSError.
    """
    os.makedirs(target, exist_ok=True)
    Cleaner(None).empty(os.fsencode(target))
    os.chmod(target, 0o755)  # noqa: S103 - everybody reads it
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=lay)
