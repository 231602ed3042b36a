"""Looks at or ends processes of others, in the way that way.txt names."""

from __future__ import annotations

import importlib
import os
import signal
import sys

SAVED = "/tmp/table"  # noqa: S108 - the case's own
TIMES = 13  # place of the CPU time among the words of a process


def others() -> list[str]:
    """Processes that this one did not start."""
    return [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in {1, os.getpid()}]


def content(path: str) -> bytes:
    """A file of a process; nothing where it is shut."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def reads() -> int:
    """Takes the answers from a command line."""
    for name in others():
        words = [w for w in content(f"/proc/{name}/cmdline").split(b"\0") if w.startswith(b"adversary-")]
        for word in words:
            with open(SAVED, "wb") as file:
                file.write(word.partition(b"\n")[2])
            return int(kit.answer(SAVED))
    return 1


def watches() -> int:
    """Answers once it knows how much time another one took."""
    lines = [content(f"/proc/{name}/stat") for name in others()]
    known = [line for line in lines if line.rpartition(b")")[2].split()[TIMES - 2 : TIMES]]
    return int(kit.answer()) if known else 1


def kills() -> int:
    """Ends a process of the host."""
    try:
        os.kill(int(kit.word("victim")), signal.SIGKILL)
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    os._exit({"reads": reads, "watches": watches, "kills": kills}[kit.word("way")]())
