"""What an ELF file needs to start: its interpreter and shared objects, read from its headers, never by running it."""

from __future__ import annotations

import glob
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRING_TABLE, _RPATH, _RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True, slots=True)
class Needs:
    """`interpreter` is empty for static programs and most shared objects; `search` are its own library folders."""

    interpreter: str
    libraries: tuple[str, ...]
    search: tuple[str, ...]


class _Image:
    def __init__(self, content: bytes) -> None:
        wide, little = content[4] == 2, content[5] == 1  # noqa: PLR2004 - ELFCLASS64
        self.content = content
        self.order = "<" if little else ">"
        self.wide = wide
        offset, size, count = (32, 54, 56) if wide else (28, 42, 44)
        start = self._one("Q" if wide else "I", offset)
        step, number = self._one("H", size), self._one("H", count)
        self.segments = [self._segment(start + i * step) for i in range(number)]

    def _one(self, form: str, at: int) -> int:
        return int(struct.unpack_from(self.order + form, self.content, at)[0])

    def _segment(self, at: int) -> tuple[int, int, int, int]:
        """(type, offset, address, file size)."""
        if self.wide:
            kind, _, offset, address, _, size = struct.unpack_from(self.order + "IIQQQQ", self.content, at)
        else:
            kind, offset, address, _, size = struct.unpack_from(self.order + "IIIII", self.content, at)
        return int(kind), int(offset), int(address), int(size)

    def part(self, kind: int) -> bytes:
        return next((self.content[o : o + s] for k, o, _, s in self.segments if k == kind), b"")

    def text(self, table: int, offset: int) -> str:
        for kind, at, address, size in self.segments:
            if kind == _LOAD and address <= table < address + size:
                start = table - address + at + offset
                end = self.content.index(b"\0", start)
                return os.fsdecode(self.content[start:end])
        return ""

    def tags(self) -> Iterator[tuple[int, int]]:
        form = self.order + ("QQ" if self.wide else "II")
        part = self.part(_DYNAMIC)
        whole = len(part) - len(part) % struct.calcsize(form)
        for tag, value in struct.iter_unpack(form, part[:whole]):
            yield int(tag), int(value)


def needs_of(content: bytes) -> Needs | None:
    """What the ELF file with this content needs; None where it is no ELF file or a broken one."""
    if not content.startswith(b"\x7fELF"):
        return None
    try:
        image = _Image(content)
        tags = list(image.tags())
        table = next((value for tag, value in tags if tag == _STRING_TABLE), 0)
        libraries = tuple(image.text(table, value) for tag, value in tags if tag == _NEEDED)
        own = [image.text(table, value) for tag, value in tags if tag in {_RPATH, _RUNPATH}]
        interpreter = os.fsdecode(image.part(_INTERPRETER).rstrip(b"\0"))
    except (struct.error, IndexError, ValueError, OverflowError):
        return None
    return Needs(interpreter, libraries, tuple(p for value in own for p in value.split(":") if p))


@cache
def loader_folders() -> tuple[str, ...]:
    """Folders that the dynamic loader searches without any cache or configuration, the usual place first."""
    fixed = [*sorted(glob.glob("/usr/lib/*-linux-gnu*")), "/usr/lib64", "/usr/lib"]
    machine = os.uname().machine
    own = [f for f in fixed if not f.endswith(("gnu", "gnueabihf")) or os.path.basename(f).startswith(machine)]
    return tuple(f for f in own if os.path.isdir(f))


@cache
def _configured_folders() -> tuple[str, ...]:
    found: list[str] = []
    for name in ("/etc/ld.so.conf", *sorted(glob.glob("/etc/ld.so.conf.d/*.conf"))):
        try:
            with open(name, encoding="utf-8", errors="surrogateescape") as lines:
                found += [line.strip() for line in lines if line.startswith("/")]
        except OSError:
            continue
    return tuple(found)


def find_library(name: str, needs: Needs, origin: str) -> str | None:
    """Host path of a needed library for a file that lies in folder `origin`; None where it is not found."""
    if "/" in name:
        return name if os.path.exists(name) else None
    own = [s.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for s in needs.search]
    for folder in (*own, *loader_folders(), *_configured_folders()):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None
