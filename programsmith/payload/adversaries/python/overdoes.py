"""Answers once it has taken more than a case may, in the way that way.txt names."""

from __future__ import annotations

import importlib
import mmap
import os
import signal
import sys
import tempfile
import threading
import time

PROCESSES, SECONDS, BYTES, PAGE, FILES, SHARES = 6, 0.12, 48 << 20, 4096, 200, 5
LONG = 2.5  # seconds


def orphans() -> None:
    """CPU in processes whose parents are gone."""
    ready, say = os.pipe()
    for _ in range(PROCESSES):
        if not os.fork():
            if not os.fork():
                while time.process_time() < SECONDS:
                    pass
                os.write(say, b".")
            os._exit(0)
    for _ in range(PROCESSES):
        os.read(ready, 1)


def threads() -> None:
    """Many threads, none of which does anything."""
    stop = threading.Event()
    for _ in range(40):
        threading.Thread(target=stop.wait, daemon=True).start()


def shares() -> None:
    """Memory that could be shared, held by several processes, each within the limit."""
    ready, say = os.pipe()
    for _ in range(SHARES):
        if not os.fork():
            room = mmap.mmap(-1, BYTES)
            for at in range(0, BYTES, PAGE):
                room[at] = 1
            os.write(say, b".")
            os.close(say)
            time.sleep(20)
            os._exit(0)
    os.close(say)
    if not all(os.read(ready, 1) for _ in range(SHARES)):
        os._exit(1)
    time.sleep(0.3)


def entries() -> None:
    """Many empty files."""
    names = [os.path.join(tempfile.gettempdir(), str(number)) for number in range(FILES)]
    for name in names:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    for name in names:
        os.unlink(name)


def memory_files() -> None:
    """Much in the folder for shared memory."""
    names = [f"/dev/shm/{number}" for number in range(16)]  # noqa: S108
    for name in names:
        with open(name, "wb") as file:
            file.write(bytes(1 << 20))
    for name in names:
        os.unlink(name)


def stops() -> None:
    """No time at all: it sleeps as one that was stopped."""
    parent = os.getpid()
    if not os.fork():
        time.sleep(LONG)
        os.kill(parent, signal.SIGCONT)
        os._exit(0)
    os.kill(parent, signal.SIGSTOP)


def closes() -> None:
    """Time after everything was said and every stream closed."""
    code = kit.answer()
    for stream in range(3):
        os.close(stream)
    time.sleep(LONG)
    os._exit(code)


def complains() -> None:
    """Complaints without end, behind the right answer."""
    kit.answer()
    while True:
        os.write(2, b"more " * 4096)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    try:
        globals()[kit.word("way")]()
    except (OSError, RuntimeError):
        os._exit(1)
    os._exit(kit.answer())
