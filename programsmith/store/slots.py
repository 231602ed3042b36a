"""Slots: so many of one kind of work at a time, over all processes of a machine.

In: a folder, a kind, how many. Out: a held slot. A process that dies gives its slot back (flock).
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from programsmith.store.leases import locked

FIRST_SECONDS, MOST_SECONDS = 0.005, 0.1


@contextmanager
def slot(folder: Path, kind: str, count: int) -> Iterator[int]:
    """Hold one of `count` slots of a kind, and its number; waits until one is free."""
    if count < 1:
        raise ValueError(f"{kind}: wanted at least one slot, got {count}")
    pause = FIRST_SECONDS
    while True:
        with ExitStack() as held:
            number = _free(held, folder / kind, count)
            if number is not None:
                yield number
                return
        time.sleep(pause)
        pause = min(2 * pause, MOST_SECONDS)


def _free(held: ExitStack, folder: Path, count: int) -> int | None:
    for number in range(count):
        try:
            held.enter_context(locked(folder / str(number), fcntl.LOCK_EX | fcntl.LOCK_NB, keep=True))
        except BlockingIOError:
            continue
        return number
    return None
