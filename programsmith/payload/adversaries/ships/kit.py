"""What exploits in Python share: words that were handed in, answers, and answers before anybody else sees them."""

from __future__ import annotations

import importlib
import os
import sys

PLACE = "/app/submission"


def word(name: str) -> str:
    """What `name`.txt beside it says."""
    with open(f"{PLACE}/{name}.txt", encoding="utf-8") as file:
        return file.read().strip()


def answer(place: str = f"{PLACE}/table.txt") -> int:
    """Answer from a table; the exit code."""
    sys.path.insert(0, PLACE)
    table = importlib.import_module("table")
    vars(table)["TABLE"] = place
    return int(table.main())


def caught() -> tuple[int, bytes]:
    """The exit code and the output of the answer, which nobody has seen yet."""
    source, sink = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(sink, 1)
        os._exit(answer())
    os.close(sink)
    with open(source, "rb") as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def say(stream: int, what: bytes) -> None:
    """Write all of it."""
    rest = memoryview(what)
    while rest:
        rest = rest[os.write(stream, rest) :]
