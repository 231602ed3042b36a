"""The gateway's process: `python -m programsmith.gateway`, started by programsmith/gateway/start.py alone.

In: one line of JSON on stdin, keys included: neither an argument nor the environment has any. Out: `ready` on stdout.
It ends with its stdin, which is how it ends with whoever started it, however that died; a call that is still running
then is closed in the record first.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from programsmith.errors import ProgramSmithError
from programsmith.gateway.serving import serving
from programsmith.payload.init.calls import PR_SET_DUMPABLE

READY = b"ready\n"
ORPHAN_SECONDS = 1.0


def main() -> int:
    """Serve until stdin ends."""
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.umask(0o177)
    given = json.loads(_line())
    try:
        asyncio.run(_serving(given))
    except ProgramSmithError as fault:
        _say(str(fault))
        return int(fault.exit)
    except Exception as fault:  # noqa: BLE001 - a traceback could tell what must not be told
        _say(f"the gateway ended: {type(fault).__name__}")
        return 1
    return 0


def _line() -> bytes:
    """The first line of stdin, and not a byte more."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            break
        line += piece
    return bytes(line)


async def _serving(given: Mapping[str, Any]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, _ended, stop)
    watch = asyncio.create_task(_orphaned(given["parent"], stop))
    try:
        await serving(given, stop, lambda: _tell(READY), _say)
    finally:
        watch.cancel()


async def _orphaned(parent: int, stop: asyncio.Event) -> None:
    """Stop once the starter is gone, where a copy of it holds the other end of stdin open."""
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel tells nobody
        await asyncio.sleep(ORPHAN_SECONDS)
    stop.set()


def _ended(stop: asyncio.Event) -> None:
    """Stdin has something to read: its end, for nothing is sent after the first line."""
    asyncio.get_running_loop().remove_reader(0)
    stop.set()


def _tell(line: bytes) -> None:
    os.write(1, line)


def _say(text: str) -> None:
    os.write(2, text.encode("utf-8", "backslashreplace") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
