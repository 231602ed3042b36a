"""The words of a query and its answer. Each is one frame: eight bytes of length, then the body; numbers are big-endian.

In: a query (arguments, input, files and folders, variables) or an answer. Out: its bytes, and back. Refused, with
what was wanted: a frame longer than MOST, a body that ends early or goes on, a kind or a path that no query has.
Whoever reads trusts nothing of what was sent.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from programsmith.payload.verifier.model import FileEntry

MAGIC = b"oracle query 1\n"
SOCKET = "/run/oracle/ask"
"""Where the agent's side finds whoever answers."""
REFERENCE = "reference"
"""The folder of the command that asks, below /app."""
REFUSED = 125
"""The exit code of a query that the original did not answer."""
QUERY_MOST, ANSWER_MOST = 8 << 20, 32 << 20
"""Bytes of a frame."""
ARGV_MOST, ARGUMENT_MOST, FILES_MOST, DEPTH_MOST, PATH_MOST, NAME_MOST = 64 << 10, 32 << 10, 1000, 32, 1024, 255
RAN = "ran"
_LENGTH, _NUMBER = struct.Struct(">Q"), struct.Struct(">I")
_KINDS = ("file", "dir", "link")
_ASKED_KINDS = 2  # of them: no link is ever sent, for it could name a place outside of the folder
_NONE = 0xFFFFFFFF
_PIECE = 1 << 16


class WireError(Exception):
    """What came is no query, or no answer; `word` is the closed word for why."""

    def __init__(self, said: str, word: str = "malformed") -> None:
        super().__init__(said)
        self.word = word


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One invocation: `argv` without the program's name, standard input, what its folder holds, variables to add."""

    argv: tuple[bytes, ...]
    stdin: bytes = b""
    files: tuple[FileEntry, ...] = ()
    env: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the original did, where `word` is RAN; else why it did nothing, in `said`.

    Exactly one of `exit_code` and `signal` is set. `files` is what the working directory holds, None if as sent.
    """

    word: str = RAN
    said: str = ""
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    files: tuple[FileEntry, ...] | None = None


def encode_query(query: Query) -> bytes:
    """The body of a query."""
    words = (_number(len(query.argv)), *map(_text, query.argv))
    variables = (_number(len(query.env)), *(_text(part) for pair in query.env for part in pair))
    return b"".join((MAGIC, *words, _text(query.stdin), *variables, *_encode_files(query.files)))


def decode_query(body: bytes) -> Query:
    """The query of a body. Raises WireError."""
    if not body.startswith(MAGIC):
        raise WireError("wanted a query of this version")
    reader = _Reader(body, len(MAGIC))
    argv = tuple(reader.text() for _ in range(reader.count(4)))
    stdin = reader.text()
    env = tuple((reader.text(), reader.text()) for _ in range(reader.count(8)))
    query = Query(argv=argv, stdin=stdin, env=env, files=reader.files(_ASKED_KINDS))
    reader.end()
    _check(query)
    return query


def encode_answer(answer: Answer) -> bytes:
    """The body of an answer."""
    codes = [_NONE if code is None else code for code in (answer.exit_code, answer.signal)]
    files = (_number(0),) if answer.files is None else (_number(1), *_encode_files(answer.files))
    texts = (answer.word.encode(), answer.said.encode("utf-8"))
    return b"".join((*map(_text, texts), *map(_number, codes), *map(_text, (answer.stdout, answer.stderr)), *files))


def decode_answer(body: bytes) -> Answer:
    """The answer of a body. Raises WireError."""
    reader = _Reader(body, 0)
    word, said = (reader.text().decode("utf-8", "replace") for _ in range(2))
    codes = [None if code == _NONE else code for code in (reader.number(), reader.number())]
    stdout, stderr = reader.text(), reader.text()
    files = reader.files(len(_KINDS)) if reader.number() else None
    reader.end()
    return Answer(word=word, said=said, exit_code=codes[0], signal=codes[1], stdout=stdout, stderr=stderr, files=files)


def send(connection: socket.socket, body: bytes) -> None:
    """Send a frame. Raises OSError."""
    connection.sendall(_LENGTH.pack(len(body)))
    connection.sendall(body)


def receive(connection: socket.socket, most: int, seconds: float | None = None) -> bytes:
    """The body of the next frame, within `seconds` in all; empty where nothing was sent.

    Raises WireError where it is longer than `most` or ends early, OSError.
    """
    until = None if seconds is None else time.monotonic() + seconds
    head = _read(connection, _LENGTH.size, until)
    if not head:
        return b""
    if len(head) < _LENGTH.size:
        raise WireError("wanted eight bytes of length")
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise WireError(f"wanted {most} bytes at most, got {length}", "too_large")
    body = _read(connection, length, until)
    if len(body) < length:
        raise WireError(f"wanted {length} bytes, got {len(body)}")
    return body


def _read(connection: socket.socket, size: int, until: float | None) -> bytes:
    found = bytearray()
    while len(found) < size:
        if until is not None:
            connection.settimeout(max(until - time.monotonic(), 0.001))
        piece = connection.recv(min(size - len(found), _PIECE))
        if not piece:
            break
        found += piece
    return bytes(found)


def _check(query: Query) -> None:
    """Raise WireError where nothing could be started with these words, or laid down by these paths."""
    words = (*query.argv, *(part for pair in query.env for part in pair))
    if sum(map(len, words)) + len(words) > ARGV_MOST or any(len(word) > ARGUMENT_MOST for word in words):
        raise WireError(f"wanted {ARGV_MOST} bytes of arguments at most, {ARGUMENT_MOST} of each", "too_large")
    if any(b"\0" in word for word in words):
        raise WireError("wanted arguments and variables without NUL")
    if len(query.files) > FILES_MOST:
        raise WireError(f"wanted {FILES_MOST} files and folders at most, got {len(query.files)}", "too_large")
    kinds = {entry.path: entry.kind for entry in query.files}
    if len(kinds) < len(query.files):
        raise WireError("wanted each path once")
    for path in kinds:
        _check_path(path, kinds)


def _check_path(path: bytes, kinds: dict[bytes, str]) -> None:
    parts = path.split(b"/")
    odd = any(part in {b"", b".", b".."} or len(part) > NAME_MOST for part in parts)
    if odd or b"\0" in path or len(path) > PATH_MOST or len(parts) > DEPTH_MOST:
        raise WireError(f"wanted plain paths below the working directory, got {path[:80]!r}")
    if any(kinds.get(b"/".join(parts[:depth]), "dir") != "dir" for depth in range(1, len(parts))):
        raise WireError(f"{path[:80]!r} lies below something that is no folder")


def _number(value: int) -> bytes:
    return _NUMBER.pack(value)


def _text(value: bytes) -> bytes:
    return _NUMBER.pack(len(value)) + value


def _encode_files(files: Sequence[FileEntry]) -> list[bytes]:
    encoded = [
        _number(_KINDS.index(e.kind)) + _number(e.mode & 0o777) + _text(e.path) + _text(e.content) for e in files
    ]
    return [_number(len(files)), *encoded]


class _Reader:
    """Reads a body from left to right."""

    def __init__(self, body: bytes, at: int) -> None:
        self._body, self._at = body, at

    def number(self) -> int:
        return int(_NUMBER.unpack(self._take(_NUMBER.size))[0])

    def count(self, least: int) -> int:
        """A number of things that take `least` bytes each: no list is begun that the body cannot fill."""
        value = self.number()
        if value * least > len(self._body) - self._at:
            raise WireError("a count promises more than was sent")
        return value

    def text(self) -> bytes:
        return self._take(self.number())

    def files(self, kinds: int) -> tuple[FileEntry, ...]:
        return tuple(self._file(kinds) for _ in range(self.count(16)))

    def _file(self, kinds: int) -> FileEntry:
        kind, mode = self.number(), self.number()
        if kind >= kinds or mode > 0o777:  # noqa: PLR2004 - permission bits
            raise WireError("wanted regular files and folders")
        path, content = self.text(), self.text()
        if _KINDS[kind] == "dir" and content:
            raise WireError("wanted no content of a folder")
        return FileEntry(path, _KINDS[kind], mode, content)

    def _take(self, size: int) -> bytes:
        if size > len(self._body) - self._at:
            raise WireError("it ends early")
        found = self._body[self._at : self._at + size]
        self._at += size
        return found

    def end(self) -> None:
        if self._at != len(self._body):
            raise WireError("it goes on behind its end")
