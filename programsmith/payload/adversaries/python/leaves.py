"""Answers, and leaves its work directory otherwise than it must, in the way that way.txt names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

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


def replaces(make: Callable[[str, str], None]) -> Callable[[], None]:
    """Something else in the place of each file, whose bytes go elsewhere."""

    def replace() -> None:
        for name in filter(os.path.isfile, os.listdir(".")):
            with open(name, "rb") as file, open(f"/tmp/{name}", "wb") as other:  # noqa: S108 - the case's own
                other.write(file.read())
            os.unlink(name)
            make(f"/tmp/{name}", name)  # noqa: S108

    return replace


WAYS = {
    "digs": digs,
    "hides": hides,
    "deletes": deletes,
    "links": replaces(os.symlink),
    "pipes": replaces(lambda _, name: os.mkfifo(name)),
}

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    code = kit.answer()
    WAYS[kit.word("way")]()
    os._exit(code)
