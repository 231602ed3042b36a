"""The parallel places of a launcher: each has a number, which makes its user, and a control group where there is one.

In: the pool of groups. Out: slots, taken by one launch at a time. Joining a group for each launch would cost more than
the launch: where the kernel lets a thread be a member, a slot has a thread that joined once, and what it starts is born
in the group. It is born in an empty network and ipc namespace of the slot's as well: nothing stays behind in those, for
a case may make neither a socket nor a queue.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from programsmith.payload.verifier.cgroup import Group, Pool

T = TypeVar("T")
_NEW_IPC, _NEW_NETWORK = 0x08000000, 0x40000000


class Slot:
    """One place. Where it has `joined`, what `do` starts is born in its group; where it is `apart`, in its spaces."""

    def __init__(self, index: int, group: Group | None, *, thread: bool) -> None:
        self.index = index
        self.group = group
        self.joined = bool(thread and group and group.takes_threads)
        self._thread = ThreadPoolExecutor(1) if self.joined else None
        if self._thread and group:
            self._thread.submit(group.join_thread).result()
        self.apart = self._thread is not None and self._thread.submit(_leave).result()

    def do(self, work: Callable[[], T]) -> T:
        """Do the work of a launch; when it is interrupted, what it started is killed first."""
        if not self._thread:
            return work()
        future = self._thread.submit(work)
        try:
            return future.result()
        except BaseException:
            if self.group:
                self.group.kill()
            raise

    def close(self) -> None:
        """End the thread and remove the group."""
        if self._thread:
            self._thread.shutdown()
        if self.group:
            self.group.remove()


def _leave() -> bool:
    """Give the calling thread an empty network and ipc namespace; whether the kernel let it."""
    import ctypes  # only launches over bwrap come here, and every start would wait for it

    return bool(ctypes.CDLL(None).unshare(_NEW_IPC | _NEW_NETWORK) == 0)


class Slots:
    """Slots made on demand, up to `most`, and used again. Thread-safe.

    With `threads` what a slot starts is born in its group.
    """

    def __init__(self, pool: Pool | None, *, threads: bool, most: int | None = None) -> None:
        self.counted = pool is not None
        self._threads = threads
        self.most = most
        self._pool = pool
        self._free: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        self._all: list[Slot] = []
        self._made = 0
        self._lock = threading.Lock()

    def take(self) -> Slot:
        """A slot that nobody uses; waits for one where there are all. Raises OSError where its group cannot be made."""
        try:
            return self._free.get_nowait()
        except queue.Empty:
            with self._lock:
                index = self._made
                if index == self.most:
                    return self._free.get()
                self._made = index + 1
            slot = Slot(index, self._pool.group(index) if self._pool else None, thread=self._threads)
            self._all.append(slot)
            return slot

    def give(self, slot: Slot) -> None:
        """Hand a slot back."""
        self._free.put(slot)

    def close(self) -> None:
        """Remove all slots. None may be in use."""
        for slot in self._all:
            slot.close()
        self._all.clear()
        self._free = queue.SimpleQueue()
