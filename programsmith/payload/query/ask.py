"""The command below /app/reference: asks the original, and ends as it ended.

In: its own arguments, standard input to its end, what lies below the working directory (regular files and folders; from
/ and /app themselves nothing), and those variables that public cases set. Out: the original's standard output and
error, its exit code or signal, and what it changed below the working directory. Where it did not answer: one line on
standard error, exit code 125, and nothing is changed.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterable, Sequence

from programsmith.payload.query.wire import (
    ANSWER_MOST,
    DEPTH_MOST,
    FILES_MOST,
    QUERY_MOST,
    RAN,
    REFUSED,
    SOCKET,
    Answer,
    Query,
    WireError,
    decode_answer,
    encode_query,
    receive,
    send,
)
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import Caps, TreeError, read_tree

NOTHING_FROM = ("/", "/app")
CAPS = Caps(files=FILES_MOST, bytes=QUERY_MOST, depth=DEPTH_MOST)


class RefusedError(Exception):
    """Nothing was asked, or there was no answer."""


def main(variables: Sequence[str] = ()) -> int:
    """Ask, show, end alike. `variables` are names that cross."""
    try:
        argv = tuple(map(os.fsencode, sys.argv[1:]))
        query = Query(argv=argv, stdin=_stdin(), files=_files(), env=_variables(variables))
        answer = asked(query)
    except (RefusedError, WireError, OSError) as fault:
        return _refused(str(fault))
    if answer.word != RAN:
        return _refused(f"{answer.word}: {answer.said}")
    if answer.files is not None and os.getcwd() not in NOTHING_FROM:
        lay(query.files, answer.files)
    _show(1, answer.stdout)
    _show(2, answer.stderr)
    if answer.signal is not None:
        _die(answer.signal)
    return answer.exit_code or 0


def asked(query: Query, path: str = SOCKET) -> Answer:
    """What whoever listens at `path` answers. Raises RefusedError, WireError, OSError."""
    body = encode_query(query)
    if len(body) > QUERY_MOST:
        raise RefusedError(f"too_large: wanted {QUERY_MOST} bytes of arguments, input and files at most")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(path)
        except OSError as fault:
            raise RefusedError(f"absent: nobody answers queries here ({fault.strerror})") from fault
        with contextlib.suppress(BrokenPipeError):  # refused before all was sent: the answer says why
            send(connection, body)
        try:
            said = receive(connection, ANSWER_MOST)
        except (WireError, OSError) as fault:
            raise RefusedError(f"ended: whoever answers queries ended in the middle of it ({fault})") from fault
    if not said:
        raise RefusedError("ended: whoever answers queries ended")
    return decode_answer(said)


def _variables(names: Sequence[str]) -> tuple[tuple[bytes, bytes], ...]:
    found = {os.fsencode(name): os.environb.get(os.fsencode(name)) for name in names}
    return tuple((name, value) for name, value in found.items() if value is not None)


def _stdin() -> bytes:
    if os.isatty(0):
        return b""
    with open(0, "rb", closefd=False) as source:
        found = source.read(QUERY_MOST + 1)
    if len(found) > QUERY_MOST:
        raise RefusedError(f"too_large: wanted {QUERY_MOST} bytes of standard input at most")
    return found


def _files() -> tuple[FileEntry, ...]:
    """What lies below the working directory. Raises RefusedError where some of it cannot cross."""
    if os.getcwd() in NOTHING_FROM:
        return ()
    try:
        found = read_tree(".", CAPS)
    except TreeError as fault:
        raise RefusedError(f"too_large: the working directory holds {fault}; ask from a folder of its own") from fault
    if found.left_out:
        path, why = found.left_out[0]
        raise RefusedError(f"files: regular files and folders cross, and {os.fsdecode(path)!r} is none ({why})")
    return tuple(found.entries)


def lay(before: Iterable[FileEntry], after: Iterable[FileEntry]) -> None:
    """Make the working directory what the original left. Raises OSError."""
    left, had = {e.path: e for e in after}, {e.path: e for e in before}
    turned = {path for path in had.keys() & left.keys() if (had[path].kind == "dir") is not (left[path].kind == "dir")}
    for path in sorted((had.keys() - left.keys()) | turned, reverse=True):  # what is below first
        if had[path].kind == "dir":
            with contextlib.suppress(OSError):  # somebody else has put something there
                os.rmdir(path)
        else:
            os.unlink(path)
    for path, entry in sorted(left.items()):
        if entry != had.get(path):
            _lay_one(path, entry)


def _lay_one(path: bytes, entry: FileEntry) -> None:
    above = os.path.dirname(path)
    if above:
        os.makedirs(above, exist_ok=True)
    if entry.kind == "dir":
        os.makedirs(path, exist_ok=True)
        return
    beside = os.path.join(above, b".reference-%d" % os.getpid())  # a name may be as long as any
    if entry.kind == "link":
        os.symlink(entry.content, beside)
    else:
        with open(beside, "xb") as out:
            out.write(entry.content)
            os.fchmod(out.fileno(), entry.mode & 0o777)
    os.replace(beside, path)


def _show(stream: int, content: bytes) -> None:
    rest = memoryview(content)
    with contextlib.suppress(BrokenPipeError):  # whoever listened has heard enough
        while rest:
            rest = rest[os.write(stream, rest) :]


def _refused(said: str) -> int:
    _show(2, f"reference: refused: {said}\n".encode("utf-8", "backslashreplace"))
    return REFUSED


def _die(number: int) -> None:
    """End by the signal, and leave no core."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # some cannot be handled anyway
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pause()
