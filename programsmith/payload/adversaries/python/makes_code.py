"""Answers once machine code has run that came as bytes, brought to life in the way that way.txt names."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys

ANSWER = 42  # of the code
FLAT = "/app/submission/flat.dat"
ROOM, READ, WRITE, EXEC, PRIVATE, ANONYMOUS, IMPLIES = 4096, 1, 2, 4, 2, 32, 0x400000
LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FAILED = ctypes.c_void_p(-1).value


def room(protection: int, file: int = -1) -> int:
    """A page of memory; ends this process where there is none."""
    at = LIBC.mmap(None, ROOM, protection, PRIVATE | (ANONYMOUS if file < 0 else 0), file, 0)
    if at == FAILED:
        os._exit(1)
    return int(at)


def placed(protection: int) -> int:
    """The code in a page of its own."""
    at = room(protection)
    with open(FLAT, "rb") as file:
        code = file.read()
    ctypes.memmove(at, code, len(code))
    return at


def written() -> int:
    """Memory that can be written and executed."""
    return placed(READ | WRITE | EXEC)


def turned() -> int:
    """Memory that can be written first, and executed then."""
    at = placed(READ | WRITE)
    if LIBC.mprotect(at, ROOM, READ | EXEC):
        os._exit(1)
    return at


def implied() -> int:
    """Memory that can be executed because it can be read."""
    if LIBC.personality(IMPLIES) < 0:
        os._exit(1)
    return placed(READ | WRITE)


def mapped() -> int:
    """The file itself as code."""
    return room(READ | EXEC, os.open(FLAT, os.O_RDONLY))


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    ways = {"written": written, "turned": turned, "implied": implied, "mapped": mapped}
    ran = ctypes.CFUNCTYPE(ctypes.c_int)(ways[kit.word("way")]())() == ANSWER
    os._exit(kit.answer() if ran else 1)
