"""Takes more of what there is only so much of: processes, memory, disk. Runs inside, and outside as a control.

Arguments: what to take, and JSON of how much. Prints as JSON whether it got that.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import signal
import sys
import time
from typing import Any

SECONDS = 8.0
HELD = 1.0  # seconds: where no group counts, it is looked at now and then
TO: dict[str, Any] = {}


def forks() -> object:
    """Whether more processes can live at a time than is allowed."""
    made = []
    try:
        while len(made) < TO["processes"]:
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            made.append(pid)
        return len(made)
    finally:
        for pid in made:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _one_ended(made: list[int]) -> bool:
    return any(os.waitpid(pid, os.WNOHANG)[0] for pid in made)


def memory() -> object:
    """Whether several processes hold more than is allowed, in sum: one that was killed for it holds nothing."""
    out, into = os.pipe()
    made = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            held = mmap.mmap(-1, TO["memory"] // 4)
            for at in range(0, len(held), 4096):
                held[at] = 1
            os.write(into, b"x")
            signal.pause()
            os._exit(0)
        made.append(pid)
    try:
        until, held, lost = time.monotonic() + SECONDS, 0, False
        while held < 4 and not lost and time.monotonic() < until:
            held += len(os.read(out, 4)) if select.select([out], [], [], 0.2)[0] else 0
            lost = _one_ended(made)
        time.sleep(0 if lost else HELD)
        return held == 4 and not lost and not _one_ended(made)
    finally:
        for pid in made:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def fills(place: str) -> object:
    path = f"{place}/filled"
    try:
        with open(path, "wb", buffering=0) as out:
            out.writelines([b"x" * (1 << 20)] * (TO["disk"] >> 20))
        return f"{place} takes {TO['disk']} bytes"
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def disk() -> object:
    found = []
    for place in TO["fill"]:
        with contextlib.suppress(OSError):
            found.append(fills(place))
    return found


if __name__ == "__main__":
    TO.update(json.loads(sys.argv[2]))
    try:
        said = bool(globals()[sys.argv[1]]())
    except OSError:
        said = False
    print(json.dumps(said))
