"""Puts a program that was compiled elsewhere into memory and executes it there."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    program = importlib.import_module("unmask").unmasked()
    place = os.memfd_create("program", 0)
    rest = memoryview(program)
    while rest:
        rest = rest[os.write(place, rest) :]
    os.execv(f"/proc/self/fd/{place}", [sys.argv[0], *sys.argv[1:]])  # noqa: S606
