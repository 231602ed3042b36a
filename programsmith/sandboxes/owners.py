"""Which process something belongs to that outlives processes: a mark on it, and whether its owner lives.

A process is told by its number and when it began, which no later one with that number shares, in one boot of one
machine. A mark of another machine or another pid namespace says nothing here: nobody can tell whether its owner lives.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from functools import cache
from pathlib import Path

NAMED = re.compile(r"\.?programsmith-[a-z]+-([0-9a-f]{8})([0-9a-f]{8})-(\d+)-(\d+)-")
DIGITS = 8  # of place and boot in a name, which has to leave room in the path of a socket
BOOT = Path("/proc/sys/kernel/random/boot_id")


@cache
def place() -> str:
    """Which process numbers a mark speaks of: this machine's, in this pid namespace."""
    machine = Path("/etc/machine-id")
    known = machine.read_text("ascii") if machine.exists() else ""
    words = (known, socket.gethostname(), os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


@cache
def boot() -> str:
    """This boot of the machine."""
    return BOOT.read_text("ascii").strip()


def prefix(kind: str) -> str:
    """What the name of a thing of this process begins with. `kind` is a word, after a dot where the name is hidden."""
    hidden = "." if kind.startswith(".") else ""
    pid = os.getpid()
    return f"{hidden}programsmith-{kind.removeprefix('.')}-{place()[:DIGITS]}{boot()[:DIGITS]}-{pid}-{_own_began(pid)}-"


@cache
def _own_began(pid: int) -> int:
    """When this process began, which the kernel takes milliseconds to tell."""
    return began(pid)


os.register_at_fork(after_in_child=_own_began.cache_clear)  # a number that an ancestor had may be given again


def is_orphan(name: str) -> bool:
    """Whether a name that begins with a prefix tells of an owner at this place that lives no more."""
    found = NAMED.match(name)
    if found is None or found[1] != place()[:DIGITS]:
        return False
    return found[2] != boot()[:DIGITS] or int(found[4]) != (began(int(found[3])) or -1)


def mark() -> str:
    """The mark of this process, for those at this place."""
    return f"{boot()}:{os.getpid()}:{began(os.getpid())}"


def lives(owner: str) -> bool:
    """Whether the process of an owner's mark, made at this place, is still there."""
    of, _, rest = owner.partition(":")
    pid, _, start = rest.partition(":")
    return of == boot() and pid.isdigit() and start == str(began(int(pid)) or "gone")


def began(pid: int) -> int:
    """When a process began, in clock ticks since boot; 0 where there is none, or only its exit code is left."""
    words = stat(pid)
    return int(words[19]) if words and words[0] not in "ZX" else 0


def stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on; a program's name may hold anything. Empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "backslashreplace").rpartition(")")[2].split()
    except OSError:
        return []
