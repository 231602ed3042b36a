"""The parallel places of a launcher: each has a number, which makes its user, and a control group where there is one.

In: the pool of groups. Out: slots, taken by one launch at a time. Joining a group for each launch would cost more than
the launch: where the kernel lets a thread be a member, a slot has a thread that joined once, and what it starts is born
in the group.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from programsmith.payload.verifier.cgroup import Group, Pool

T = TypeVar("T")


class Slot:
    """One place. `joined` says that what `do` starts is in the group already."""

    def __init__(self, index: int, group: Group | None, *, thread: bool) -> None:
        self.index = index
        self.group = group
        self.joined = bool(thread and group and group.takes_threads)
        self._thread = ThreadPoolExecutor(1) if self.joined else None
        if self._thread and group:
            self._thread.submit(group.join_thread).result()

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


class Slots:
    """Slots made on demand, up to `most`, and used again. Thread-safe.

    With `threads` what a slot starts is born in its group.
    """

    def __init__(self, pool: Pool | None, *, threads: bool, most: int | None = None) -> None:
        self.counted = pool is not None
        self._threads = threads
        self._most = most
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
                if index == self._most:
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
