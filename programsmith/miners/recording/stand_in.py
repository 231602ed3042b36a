"""The program that stands where a suite calls the tool: compiled once per machine, told by a file what it stands for.

In: the sources below payload/record. Out: its bytes, and the text of its configuration (payload/record/config.h).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from programsmith.miners.base import Skip
from programsmith.sandboxes.shared import publish

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-O2", "-s", "-static", "-Wall", "-Wextra")


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A path inside where the stand-in lies. `words` begin a call of the tool; what else is called starts `other`."""

    path: str
    other: str = "/nonexistent"
    words: tuple[str, ...] = ()


def sources() -> Path:
    """The folder of the stand-in's sources."""
    return Path(str(resources.files("programsmith.payload"))) / "record"


@lru_cache(maxsize=1)
def stand_in() -> bytes:
    """The executable. Raises Skip `no_compiler` where this host cannot make a static program."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise Skip("no_compiler")
    total = hashlib.sha256(os.uname().machine.encode())
    for file in sorted(sources().glob("*.[ch]")):
        total.update(file.name.encode() + b"\0" + file.read_bytes())

    def fill(place: Path) -> None:
        words = [compiler, *_FLAGS, "-o", str(place / "record"), str(sources() / "record.c")]
        if subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode:
            raise Skip("no_compiler")

    return (publish(f"record-{total.hexdigest()[:16]}", fill) / "record").read_bytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What stand-ins are told (payload/record/config.h). Words hold no tab and no newline.

    Logs go to the folder `calls`; `cap` bounds a stream and a file; what lies below `roots` and not below `own` can
    belong to a case; the program, started as `tool`, sees none of the variables `drops`.
    """

    stands: tuple[StandIn, ...]
    calls: str
    cap: int
    roots: tuple[bytes, ...]
    own: tuple[str, ...]
    drops: tuple[str, ...]
    program: str
    tool: str

    def text(self) -> bytes:
        """The configuration."""
        lines = [
            ("calls", self.calls),
            ("cap", str(self.cap)),
            ("program", self.program, self.tool),
            *(("root", os.fsdecode(root)) for root in self.roots),
            *(("own", path) for path in self.own),
            *(("drop", name) for name in self.drops),
            *(("stands", s.path, s.other, *s.words) for s in self.stands),
        ]
        return b"".join(os.fsencode("\t".join(line)) + b"\n" for line in lines)
