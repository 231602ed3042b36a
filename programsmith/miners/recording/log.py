"""Logs of calls, as payload/record writes them. Whoever ran the suite may have written them: nothing is taken on trust.

In: the bytes of one log. Out: a `Call`, or None for what is no whole log. Caps are those of what is read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

ASKED, OPENED, LISTED = 1, 2, 4
FILE, FOLDER, LINK, SPECIAL, ABSENT, LARGE = range(6)
_HEAD = struct.Struct("<cQ")
_NOTE = struct.Struct("<4Q")
_STATUS = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Note:
    """What a path held when the program first used it so. `how` is ASKED, OPENED or LISTED."""

    how: int
    kind: int
    mode: int
    path: bytes
    content: bytes


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of the program. `status` is a wait status; `words` are reasons for which it can be no case."""

    argv: list[bytes] = field(default_factory=list)
    env: dict[bytes, bytes] = field(default_factory=dict)
    cwd: bytes = b""
    parents: list[bytes] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    stdin: bytes = b""
    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0


def read_call(log: bytes) -> Call | None:
    """The call that a log holds; None where it is cut off or no log at all."""
    call = Call()
    for tag, payload in _records(log):
        if tag == b"Z":
            return call
        try:
            _TAKES[tag](call, payload)
        except (KeyError, ValueError, struct.error):
            return None
    return None


def _take_variable(call: Call, payload: bytes) -> None:
    name, _, value = payload.partition(b"=")
    call.env[name] = value


def _take_status(call: Call, payload: bytes) -> None:
    (call.status,) = _STATUS.unpack(payload)


def _take_note(call: Call, payload: bytes) -> None:
    how, kind, mode, length = _NOTE.unpack_from(payload)
    rest = payload[_NOTE.size :]
    if length > len(rest) or kind > LARGE:
        raise ValueError("no note")
    call.notes.append(Note(how, kind, mode & 0o7777, rest[:length], rest[length:]))


_TAKES: dict[bytes, Callable[[Call, bytes], None]] = {
    b"A": lambda call, payload: call.argv.append(payload),
    b"E": _take_variable,
    b"C": lambda call, payload: setattr(call, "cwd", payload),
    b"P": lambda call, payload: call.parents.append(payload),
    b"W": lambda call, payload: call.words.append(payload.decode("ascii", "replace")),
    b"F": _take_note,
    b"I": lambda call, payload: setattr(call, "stdin", payload),
    b"O": lambda call, payload: setattr(call, "stdout", payload),
    b"R": lambda call, payload: setattr(call, "stderr", payload),
    b"X": _take_status,
}


def _records(log: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at + _HEAD.size <= len(log):
        tag, size = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        if size > len(log) - at:
            return
        yield tag, log[at : at + size]
        at += size
