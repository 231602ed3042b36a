"""Holds memory in several processes, each within the limit, and then answers."""

from __future__ import annotations

import importlib
import mmap
import os
import sys
import time

PROCESSES, BYTES, PAGE, SECONDS = 5, 48 << 20, 4096, 0.5


def hold() -> int:
    """Start a process that touches every page, says so and stays; what it says can be read here."""
    ready, say = os.pipe()
    if not os.fork():
        room = mmap.mmap(-1, BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, BYTES, PAGE):
            room[at] = 1
        os.write(say, b".")
        time.sleep(20)
        os._exit(0)
    os.close(say)
    return ready


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    table = importlib.import_module("table")
    holders = [hold() for _ in range(PROCESSES)]
    held = all(os.read(ready, 1) for ready in holders)
    time.sleep(SECONDS)
    os._exit(table.main() if held else 1)
