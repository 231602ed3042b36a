"""Pooled control groups, one per slot: memory, process and CPU counts over all processes of a launch.

In: nothing but /proc/self. Out: a `Pool` whose groups live below our own group (version 1) or below the nearest group
that hands memory and pids down (version 2); where nobody manages version 2, its root is made to. None where the kernel
or our rights offer no such place, as in a container: the launcher then falls back to resource limits and says so.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = "programsmith-"
_STALE = re.compile(_PREFIX + r"(\d+)-[0-9a-f]+-\d+")


@dataclass(frozen=True, slots=True)
class Layout:
    """File names of one cgroup version. A value is `file` or `file:key` of a file with `key number` lines."""

    memory: str
    swap: str
    oom: str
    cpu: str
    cpu_per_second: int
    swap_is_total: bool


V1 = Layout("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control:oom_kill", "cpuacct.usage",
            1_000_000_000, swap_is_total=True)  # fmt: skip
V2 = Layout("memory.max", "memory.swap.max", "memory.events:oom_kill", "cpu.stat:usage_usec",
            1_000_000, swap_is_total=False)  # fmt: skip

_OWN_KILLS = (("cgroup", "memory", V1.oom), ("cgroup2", "", "memory.events.local:oom_kill"))
"""Kind of hierarchy, the controller by which our path in it is known, the counter."""


class _Counter:
    """A counter of the kernel, kept open: `file`, or `file:key` of a file with `key number` lines. 0 where absent."""

    def __init__(self, folder: str, value: str) -> None:
        name, _, self._key = value.partition(":")
        try:
            self._fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        if self._fd < 0:
            return 0
        words = os.pread(self._fd, 4096, 0).split()
        if not self._key:
            return int(words[0])
        key = self._key.encode()
        return next((int(n) for name, n in zip(words[::2], words[1::2], strict=True) if name == key), 0)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _write(folder: str, name: str, value: int) -> None:
    with open(os.path.join(folder, name), "w", encoding="ascii") as out:
        out.write(str(value))


class Group:
    """The group of one slot. Used by one launch at a time."""

    def __init__(self, folders: dict[str, str], layout: Layout) -> None:
        self._memory, self._pids = folders["memory"], folders["pids"]
        self._cpu = _Counter(folders["cpuacct"], layout.cpu)
        self._oom = _Counter(folders["memory"], layout.oom)
        self._refused = _Counter(folders["pids"], "pids.events:max")
        self._folders = sorted(set(folders.values()))
        self._layout = layout
        self._set: tuple[int, int] | None = None
        self._before = 0  # CPU when the launch began
        self._refusals = (0, 0)  # of memory and processes, ever
        self._told = True  # whether those are the last launch's too
        self._own = 0.0  # CPU seconds of our own thread at the last mark
        self.takes_threads = layout is V1
        self._joined = False

    @property
    def entrances(self) -> tuple[str, ...]:
        """Files that a process writes 0 to in order to join."""
        return tuple(os.path.join(f, "cgroup.procs") for f in self._folders)

    def join_thread(self) -> None:
        """Make the calling thread a member, so that what it starts is born here. Raises OSError."""
        for folder in self._folders:
            _write(folder, "tasks", 0)
        self._joined = True

    def begin(self, memory: int, pids: int) -> None:
        """Set the limits and remember the counters. Raises OSError where a limit cannot be set."""
        if self._set != (memory, pids):
            self._limit_memory(memory)
            _write(self._pids, "pids.max", pids + self._joined)
            self._set = (memory, pids)
        if not self._told:
            self.hits()
        self._told = False
        self.mark()

    def _limit_memory(self, memory: int) -> None:
        layout = self._layout
        swap = memory if layout.swap_is_total else 0
        for last in (False, True):  # raising needs swap first, lowering memory first: try both orders
            with contextlib.suppress(OSError):
                _write(self._memory, layout.swap, swap)
            try:
                _write(self._memory, layout.memory, memory)
            except OSError:
                if last:
                    raise
                with contextlib.suppress(OSError):  # version 1: let go of what the last launch left behind
                    _write(self._memory, "memory.force_empty", 0)
        with contextlib.suppress(OSError):
            _write(self._memory, layout.swap, swap)

    def mark(self) -> None:
        """Count CPU from now on: what was used so far was ours."""
        self._before = self._cpu.read()
        self._own = time.thread_time()

    def cpu_seconds(self) -> float:
        """CPU used since `begin` or `mark`, by all processes but ours. Called by the thread that called those."""
        own = time.thread_time() - self._own if self._joined else 0.0
        return max((self._cpu.read() - self._before) / self._layout.cpu_per_second - own, 0.0)

    def hits(self) -> frozenset[str]:
        """Limits that were hit since `begin`: `memory`, `pids`."""
        before, now = self._refusals, (self._oom.read(), self._refused.read())
        self._refusals, self._told = now, True
        return frozenset(name for name, old, new in zip(("memory", "pids"), before, now, strict=True) if new > old)

    def kill(self) -> None:
        """Kill every process in the group until none is left, at most five seconds long."""
        for _ in range(500):
            pids = self._members()
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def _members(self) -> list[int]:
        found: list[int] = []
        for folder in self._folders:
            with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as lines:
                found += [int(line) for line in lines]
        return [pid for pid in found if pid != os.getpid()]  # a thread of ours may be a member

    def remove(self) -> None:
        """Remove the group's folders; processes in it are killed first."""
        self.kill()
        for counter in (self._cpu, self._oom, self._refused):
            counter.close()
        for folder in self._folders:
            _remove(folder)


def _remove(folder: str) -> None:
    for _ in range(200):  # the kernel frees a group a moment after its last process
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.005)
        else:
            return


class Pool:
    """Where groups can be made. Folder names carry our process id, so that leftovers of dead launchers are known."""

    def __init__(self, parents: dict[str, str], layout: Layout) -> None:
        self._parents = parents
        self._layout = layout
        self._tag = f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"

    def group(self, index: int) -> Group:
        """Make the group of slot `index`. Raises OSError."""
        folders = {c: os.path.join(p, f"{self._tag}-{index}") for c, p in self._parents.items()}
        for folder in sorted(set(folders.values())):
            os.mkdir(folder)
        if self._layout is V1:
            with contextlib.suppress(OSError):
                _write(folders["memory"], "memory.swappiness", 0)
        return Group(folders, self._layout)

    def reap(self) -> None:
        """Remove groups of launchers that are dead."""
        for parent in sorted(set(self._parents.values())):
            for name in os.listdir(parent):
                found = _STALE.fullmatch(name)
                if found and not _lives(found[1]):
                    _remove(os.path.join(parent, name))


def _lives(pid: str) -> bool:
    """Whether a process goes on; one that nobody has awaited does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as facts:
            return facts.read().rpartition(b")")[2].split()[:1] not in ([b"Z"], [b"X"])
    except OSError:
        return False


def _own_paths() -> dict[str, str]:
    """Controller (empty for version 2) to our own path in its hierarchy."""
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as lines:
        rows = [line.rstrip("\n").split(":", 2) for line in lines]
    return {name: path for _, names, path in rows for name in names.split(",")}


def _mounts(kind: str) -> Iterator[tuple[list[str], str, str]]:
    """(super options, root, mount point) of every mounted hierarchy of `kind`."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            left, _, right = line.partition(" - ")
            fields, tail = left.split(), right.split()
            if tail and tail[0] == kind:
                yield tail[2].split(","), fields[3], fields[4]


def _place(point: str, root: str, own: str) -> str:
    inside = own[len(root) :] if root != "/" and own.startswith(root) else own
    full = os.path.join(point, inside.lstrip("/"))
    return full if os.path.isdir(full) else point


def _parents_v1(own: dict[str, str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for options, root, point in _mounts("cgroup"):
        for controller in ("memory", "pids", "cpuacct"):
            if controller in options:
                found[controller] = _place(point, root, own.get(controller, "/"))
    return found if len(found) == 3 else None  # noqa: PLR2004 - the three controllers above


def _hands_down(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "cgroup.subtree_control"), encoding="ascii") as names:
            return {"memory", "pids"} <= set(names.read().split())
    except OSError:
        return False


def _hand_down(folder: str) -> None:
    """Ask for it, which only the root of the hierarchy grants: any other group that has members refuses."""
    with contextlib.suppress(OSError):
        fd = os.open(os.path.join(folder, "cgroup.subtree_control"), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, b"+memory +pids")
        finally:
            os.close(fd)


def _parents_v2(own: dict[str, str]) -> dict[str, str] | None:
    for _, root, point in _mounts("cgroup2"):
        folders = [_place(point, root, own.get("", "/"))]
        while folders[-1].startswith(point.rstrip("/") + "/"):
            folders.append(os.path.dirname(folders[-1]))
        if not any(map(_hands_down, folders)):
            _hand_down(point)
        for folder in folders:
            if _hands_down(folder) and os.access(folder, os.W_OK):
                return dict.fromkeys(("memory", "pids", "cpuacct"), folder)
    return None


def memory_kills() -> int:
    """How many processes of our own group, none of groups below it, the kernel has ended for want of memory.

    0 where it does not say.
    """
    own, total = _own_paths(), 0
    for kind, controller, value in _OWN_KILLS:
        for options, root, point in _mounts(kind):
            if kind == "cgroup2" or controller in options:
                counter = _Counter(_place(point, root, own.get(controller, "/")), value)
                total += counter.read()
                counter.close()
    return total


def open_pool() -> Pool | None:
    """The pool of this host, tried by making and removing one group; None where there is none."""
    own = _own_paths()
    for parents, layout in ((_parents_v1(own), V1), (_parents_v2(own), V2)):
        if parents is None:
            continue
        pool = Pool(parents, layout)
        try:
            pool.reap()
            pool.group(0).remove()
        except OSError:
            continue
        return pool
    return None
