"""Answers, and leaves its work directory otherwise than it must, in the way that way.txt names."""

from __future__ import annotations

import importlib
import os
import sys

LEVELS = 200
NAMES = (b"\xff\n\x1b[2J", b"n" * 255, b" .", b"-rf")


def digs() -> None:
    """Directories, one in the other, deeper than anybody walks."""
    for _ in range(LEVELS):
        os.mkdir("d")
        os.chdir("d")


def hides() -> None:
    """A directory that nobody may enter, and names that are no text."""
    os.mkdir("hidden")
    for name in NAMES:
        with open(b"hidden/" + name, "wb"):
            pass
    os.chmod("hidden", 0)


def deletes() -> None:
    """No trace of what it was asked about."""
    for name in os.listdir("."):
        if os.path.isfile(name):
            os.unlink(name)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    code = kit.answer()
    {"digs": digs, "hides": hides, "deletes": deletes}[kit.word("way")]()
    os._exit(code)
