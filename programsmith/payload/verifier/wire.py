"""The two wires between the launcher and the init: the request that goes in, the records that come back.

In: a `Request` with what the launcher adds to it. Out: request bytes; or, of the status bytes, `Report`. The form is
described in payload/init/wire.h. A request with an unsafe path is refused with ValueError.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntFlag

from programsmith.payload.verifier.model import FileEntry

_NAME_MOST = 255  # bytes of one part of a path
KINDS = ("file", "dir", "link", "special")


class Flag(IntFlag):
    """Choices of one launch."""

    ONE_CPU = 1
    COLLECT = 2
    WATCH = 4  # the init counts CPU and memory itself, where no cgroup does
    EXEC_WORK = 8  # the work directory may hold executables
    WORKSPACE = 16  # the work directory is a bind from the host, not a fresh tmpfs
    FENCE_EXEC = 32


class Over(IntFlag):
    """Limits that the init saw passed."""

    CPU = 1
    MEMORY = 2
    WORK = 4
    WALL = 8
    PIDS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the init is told. `limits` are (resource, soft, hard); `cpu_us` and `memory` matter with WATCH."""

    flags: Flag
    umask: int
    work_bytes: int
    work_files: int
    cpu_us: int
    memory: int
    max_bytes: int
    max_depth: int
    limits: Sequence[tuple[int, int, int]]
    hidden: str
    work: str
    cwd: str
    program: str
    filter: bytes
    argv: Sequence[bytes]
    env: Sequence[tuple[bytes, bytes]]
    paths: Sequence[str]
    files: Sequence[FileEntry]


@dataclass(slots=True)
class Report:
    """What the init said. `end` is (wait status, CPU µs, Over); `complete` is false where it could not finish."""

    started: bool = False
    exec_errno: int | None = None
    end: tuple[int, int, Over] | None = None
    entries: list[FileEntry] = field(default_factory=list)
    unread: str | None = None
    fault: str | None = None
    complete: bool = False


def _number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _bytes(value: bytes) -> Iterator[bytes]:
    yield _number(len(value))
    yield value
    yield b"\0"


def _text(value: bytes) -> Iterator[bytes]:
    if b"\0" in value:
        raise ValueError(f"NUL in {value!r}: arguments, environment and paths cannot hold one")
    return _bytes(value)


def _list(values: Iterable[bytes]) -> Iterator[bytes]:
    items = list(values)
    yield _number(len(items))
    for item in items:
        yield from _text(item)


def check_paths(files: Iterable[FileEntry]) -> None:
    """Raise ValueError where an entry's path is not relative and plain, or leads through a file or link."""
    kinds = {f.path: f.kind for f in files}
    for path in kinds:
        parts = path.split(b"/")
        if not path or any(p in {b"", b".", b".."} or len(p) > _NAME_MOST for p in parts):
            raise ValueError(f"case file {path!r}: wanted a plain relative path")
        for depth in range(1, len(parts)):
            if kinds.get(b"/".join(parts[:depth]), "dir") != "dir":
                raise ValueError(f"case file {path!r} lies below something that is not a directory")


def _files(files: Sequence[FileEntry]) -> Iterator[bytes]:
    yield _number(len(files))
    for entry in files:
        yield _number(KINDS.index(entry.kind, 0, 3))
        yield _number(entry.mode & 0o7777)
        yield from _text(entry.path)
        yield from (_text if entry.kind == "link" else _bytes)(entry.content)


def _parts(order: Order) -> Iterator[bytes]:
    for number in (order.flags, order.umask, order.work_bytes, order.work_files, order.cpu_us, order.memory):
        yield _number(number)
    for number in (order.work_files, order.max_bytes, order.max_depth):
        yield _number(number)
    yield _number(len(order.limits))
    for triple in order.limits:
        yield from map(_number, triple)
    for text in (order.hidden, order.work, order.cwd, order.program):
        yield from _text(text.encode("utf-8", "surrogateescape"))
    yield from _bytes(order.filter)
    yield from _list(order.argv)
    yield from _list(name + b"=" + value for name, value in order.env)
    yield from _list(p.encode("utf-8", "surrogateescape") for p in order.paths)
    yield from _files(order.files)


def encode_order(order: Order) -> bytes:
    """Request bytes. Raises ValueError where a string or path cannot be carried."""
    check_paths(order.files)
    return b"".join(_parts(order))


def _records(status: bytes) -> Iterator[tuple[str, memoryview]]:
    view, at = memoryview(status), 0
    while at + 9 <= len(view):
        size = int.from_bytes(view[at + 1 : at + 9], "little")
        if at + 9 + size > len(view):
            return
        yield chr(view[at]), view[at + 9 : at + 9 + size]
        at += 9 + size


def _entry(payload: memoryview) -> FileEntry:
    kind, mode, length = struct.unpack_from("<QQQ", payload)
    return FileEntry(bytes(payload[24 : 24 + length]), KINDS[kind], mode, bytes(payload[24 + length :]))


def decode_report(status: bytes) -> Report:
    """Report of the status bytes; a truncated last record is dropped and leaves `complete` false."""
    report = Report()
    for tag, payload in _records(status):
        match tag:
            case "S":
                report.started = True
            case "E":
                report.exec_errno = struct.unpack("<Q", payload)[0]
            case "X":
                ended, cpu, over = struct.unpack("<QQQ", payload)
                report.end = (ended, cpu, Over(over))
            case "N":
                report.entries.append(_entry(payload))
            case "U":
                report.unread = bytes(payload).decode("ascii", "replace")
            case "F":
                report.fault = bytes(payload).decode("ascii", "replace")
            case _:
                report.complete = tag == "Z"
    return report
