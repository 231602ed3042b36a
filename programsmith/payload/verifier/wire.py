"""The two wires between the launcher and the init: the request that goes in, the records that come back.

In: a `Request` with what the launcher adds to it. Out: request bytes; or, of the status bytes, `Report`. The form is
described in payload/init/wire.h. A request with an unsafe path is refused with ValueError.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from functools import lru_cache
from typing import NamedTuple

from programsmith.payload.verifier.model import FileEntry

NAME_MOST = 255  # bytes of one part of a path
KINDS = ("file", "dir", "link", "special")
DEVICE = 2
_NOBODY = (1 << 64) - 1


class Flag(IntFlag):
    """Choices of one launch."""

    ONE_CPU = 1
    COLLECT = 2
    WATCH = 4  # the init counts CPU and memory itself, where no cgroup does
    EXEC_WORK = 8  # the work directory may hold executables
    WORKSPACE = 16  # the work directory is a bind from the host, not a fresh tmpfs
    FENCE_EXEC = 32
    FENCE_FILES = 64  # reading and writing too
    KEEP_TMP = 256  # /tmp is one of the directories that outlive the launch
    TURN_CLOCK = 128  # the program is told another time; needs the filter that traces its questions


class Right(IntFlag):
    """What a rule allows below its path."""

    EXECUTE = 1
    READ = 2
    WRITE = 4
    SCRIPTS = 8  # only what other rules name below it is executed, and none of the rest is mapped as code


class Over(IntFlag):
    """Limits that the init saw passed."""

    CPU = 1
    MEMORY = 2
    WORK = 4
    WALL = 8
    PIDS = 16


class Bind(NamedTuple):
    """Something of the host that is shown inside: read-only, writable (true), or a device (DEVICE)."""

    source: str
    target: str
    writable: int = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a launch server is told once. `owner` is the user that launches become outside, None for our own.

    `confined`: no namespaces; then only `owner` and `places`, every directory that a launch may write to, matter.
    """

    confined: bool = False
    owner: int | None
    inside: int
    joins: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    dirs: Sequence[str] = ()
    binds: Sequence[Bind] = ()
    places: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the init is told. `limits` are (resource, soft, hard).

    `cpu_us`, `memory` and `shared` matter with WATCH: by `shared` bytes what is shared may grow on the whole host
    before this launch is suspected of it.
    """

    flags: Flag
    umask: int
    work_bytes: int
    work_files: int
    cpu_us: int
    memory: int
    max_bytes: int
    max_depth: int
    shared: int
    clock: int = 0  # seconds that the program's clock is ahead
    limits: tuple[tuple[int, int, int], ...]
    hidden: str
    work: str
    cwd: str
    program: str
    filter: bytes
    hostname: str = "sandbox"
    argv: Sequence[bytes]
    env: tuple[tuple[bytes, bytes], ...]
    paths: tuple[tuple[int, str], ...]  # rights, path
    places: Sequence[str] = ()  # directories that outlive the launch and that it may write to
    files: Sequence[FileEntry]


@dataclass(slots=True)
class Report:
    """What the init said. `end` is (wait status, CPU µs, Over); `complete` is false where it could not finish.

    `own_seconds` is the CPU time of the init itself.
    """

    started: bool = False
    own_seconds: float = 0.0
    exec_errno: int | None = None
    end: tuple[int, int, Over] | None = None
    entries: list[FileEntry] = field(default_factory=list)
    unread: str | None = None
    fault: str | None = None
    complete: bool = False


_LAST = b"Z" + bytes(8)  # no payload
_number = struct.Struct("<Q").pack
_triple = struct.Struct("<3Q").pack
_numbers = struct.Struct("<10Qq").pack


def _text(value: bytes) -> bytes:
    if b"\0" in value:
        raise ValueError(f"NUL in {value!r}: arguments, environment and paths cannot hold one")
    return b"%b%b\0" % (_number(len(value)), value)


def _bytes(value: bytes) -> tuple[bytes, bytes, bytes]:
    return _number(len(value)), value, b"\0"


def _list(values: Iterable[bytes]) -> bytes:
    items = [_text(value) for value in values]
    return _number(len(items)) + b"".join(items)


@lru_cache(maxsize=64)
def _variables(env: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """An environment; most launches of a grading have the same one, as what follows."""
    return _list([name + b"=" + value for name, value in env])


@lru_cache(maxsize=64)
def _limits(limits: tuple[tuple[int, int, int], ...]) -> bytes:
    return _number(len(limits)) + b"".join([_triple(*limit) for limit in limits])


@lru_cache(maxsize=64)
def _rules(paths: tuple[tuple[int, str], ...]) -> bytes:
    return _number(len(paths)) + b"".join([_number(rights) + _word(path) for rights, path in paths])


@lru_cache(maxsize=1024)
def _word(value: str) -> bytes:
    """A path or name of ours; most are the same in every launch."""
    return _text(_path(value))


def _path(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


def check_paths(files: Iterable[FileEntry]) -> None:
    """Raise ValueError where an entry's path is not relative and plain, or leads through a file or link."""
    kinds = {f.path: f.kind for f in files}
    for path in kinds:
        parts = path.split(b"/")
        if not path or any(p in {b"", b".", b".."} or len(p) > NAME_MOST for p in parts):
            raise ValueError(f"case file {path!r}: wanted a plain relative path")
        for depth in range(1, len(parts)):
            if kinds.get(b"/".join(parts[:depth]), "dir") != "dir":
                raise ValueError(f"case file {path!r} lies below something that is not a directory")


def _files(files: Sequence[FileEntry]) -> Iterator[bytes]:
    yield _number(len(files))
    for entry in files:
        yield _number(KINDS.index(entry.kind, 0, 3))
        yield _number(entry.mode & 0o7777)
        yield _text(entry.path)
        yield from (_text(entry.content),) if entry.kind == "link" else _bytes(entry.content)


def _binds(binds: Sequence[Bind]) -> bytes:
    shown = [_number(b.writable) + _text(_path(b.source)) + _text(_path(b.target)) for b in binds]
    return _number(len(shown)) + b"".join(shown)


def encode_order(order: Order) -> bytes:
    """Request bytes. Raises ValueError where a string or path cannot be carried."""
    check_paths(order.files)
    return b"".join(
        (
            _numbers(
                order.flags,
                order.umask,
                order.work_bytes,
                order.work_files,
                order.cpu_us,
                order.memory,
                order.work_files,
                order.max_bytes,
                order.max_depth,
                order.shared,
                order.clock,
            ),
            _limits(order.limits),
            *[_word(text) for text in (order.hidden, order.work, order.cwd, order.program)],
            *_bytes(order.filter),
            _word(order.hostname),
            _list(order.argv),
            _variables(order.env),
            _rules(order.paths),
            _list(map(_path, order.places)),
            *_files(order.files),
        )
    )


def encode_setup(setup: Setup) -> bytes:
    """Setup bytes, as payload/launch/setup.h reads them."""
    return b"".join(
        (
            _number(setup.confined),
            _number(_NOBODY if setup.owner is None else setup.owner),
            _number(setup.inside),
            _list(map(_path, setup.joins)),
            _list(_path(word) for link in setup.links for word in link),
            _list(map(_path, setup.dirs)),
            _binds(setup.binds),
            _list(map(_path, setup.places)),
        )
    )


def _records(status: bytes | bytearray) -> Iterator[tuple[str, memoryview]]:
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


def is_whole(status: bytearray) -> bool:
    """Whether status bytes end as a whole report does."""
    return status.endswith(_LAST) and [tag for tag, _ in _records(status)][-1:] == ["Z"]


def decode_report(status: bytes | bytearray) -> Report:
    """Report of the status bytes; a truncated last record is dropped and leaves `complete` false."""
    report = Report()
    for tag, payload in _records(status):
        match tag:
            case "S":
                report.started = True
            case "E":
                report.exec_errno = struct.unpack("<Q", payload)[0]
            case "X":
                ended, cpu, over, own = struct.unpack("<4Q", payload)
                report.end, report.own_seconds = (ended, cpu, Over(over)), own / 1e6
            case "N":
                report.entries.append(_entry(payload))
            case "U":
                report.unread = bytes(payload).decode("ascii", "replace")
            case "F":
                report.fault = bytes(payload).decode("ascii", "replace")
            case _:
                report.complete = tag == "Z"
    return report
