"""Where queries come in: counted, bounded, answered, told one by one. Whatever is sent, an answer or refusal goes out.

In: a listening socket, what answers a query, how many there may be, who is told. Out: frames on each connection; a row
per query. Connections beyond those that are served wait in the kernel, so that no number of them takes memory. A query
that is refused by the meter leaves no row but is counted, and a row tells long arguments by their beginning and digest,
so that no number and no size of them fills a disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.payload.query.original import BrokenError
from programsmith.payload.query.wire import (
    QUERY_MOST,
    RAN,
    Answer,
    Query,
    WireError,
    decode_query,
    encode_answer,
    receive,
    send,
)
from programsmith.payload.verifier.model import FileEntry, b64, canonical, encode_file

SPENT, BROKEN, FAULT = "spent", "broken", "fault"
NOTHING: Mapping[str, Any] = {"queries": 0, "bytes": 0, "refused": {}}
_SERVED = 8  # connections at a time; each may hold a query and an answer in memory
_PAUSE = 0.05  # seconds
_TOLD, _WORD = 4096, 8  # bytes of arguments, and of variables, that a row tells; what a word takes beside its own
_SECONDS = 30.0  # in which a query has come whole, and an answer is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """What may be asked in all: queries, and bytes of queries and answers. `slots` run at the same time."""

    queries: int
    bytes: int
    slots: int


class Desk:
    """Answers whoever connects, from `open` to `close`. `tell` gets a JSON-able row per query, one at a time.

    `keep` gets the sums whenever they change, before a query runs that they count; `kept` are those of a desk that
    ended before its task did: what is used up stays so. `broken` says what kept this host from starting the original,
    if anything did.
    """

    def __init__(
        self,
        listener: socket.socket,
        answer: Callable[[Query], Answer],
        meter: Meter,
        tell: Callable[[Mapping[str, Any]], None],
        keep: Callable[[Mapping[str, Any]], None] = lambda _: None,
        kept: Mapping[str, Any] = NOTHING,
    ) -> None:
        self._listener, self._answer, self._meter, self._tell, self._keep = listener, answer, meter, tell, keep
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._launches = threading.BoundedSemaphore(meter.slots)
        self._connections: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(_SERVED)]
        self._closed = False
        self.queries, self.bytes = int(kept["queries"]), int(kept["bytes"])
        self.refused: Counter[str] = Counter(kept["refused"])
        self.broken = ""

    def sums(self) -> dict[str, Any]:
        """Queries, bytes of them and of answers, and refusals by word, so far."""
        return {"queries": self.queries, "bytes": self.bytes, "refused": dict(sorted(self.refused.items()))}

    def open(self) -> None:
        """Begin to answer."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End: nobody is answered any more, no query is under way, every connection is gone. Idempotent."""
        with self._lock:
            self._closed = True
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for a connection
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # it is closed; or this process has no descriptor left just now
                time.sleep(_PAUSE)
                continue
            with connection, contextlib.suppress(OSError):
                if self._took(connection):
                    self._converse(connection)
            with self._lock:
                self._connections.discard(connection)

    def _took(self, connection: socket.socket) -> bool:
        """Whether the connection is kept: none is, once this is closed."""
        with self._lock:
            if not self._closed:
                self._connections.add(connection)
            return not self._closed

    def _converse(self, connection: socket.socket) -> None:
        """One query of one connection. Raises OSError."""
        row: dict[str, Any] = {}
        begun = time.monotonic()
        try:
            body = receive(connection, QUERY_MOST, _SECONDS)
        except WireError as fault:
            answer = self._counted(0) or _no_query(fault)
        else:
            if not body:
                return
            answer = self._counted(len(body)) or self._answered(body, row)  # one too many is not even read
        said = encode_answer(answer)
        if answer.word != SPENT:
            self._note(row, answer, len(said), begun)
        else:
            self._refuse(SPENT)
        connection.settimeout(_SECONDS)
        send(connection, said)

    def _answered(self, body: bytes, row: dict[str, Any]) -> Answer:
        """Have a query that is counted run."""
        try:
            query = decode_query(body)
        except WireError as fault:
            return _no_query(fault)
        row.update(_asked(query))
        with self._launches:
            if self._closed:
                return Answer(word="ended", said="the trial has ended")
            try:
                return self._answer(query)
            except BrokenError as fault:
                self.broken = self.broken or str(fault)
                return Answer(word=BROKEN, said="the original cannot be started on this host")
            except Exception as fault:  # noqa: BLE001 - one query ends by it, and whoever asks next is answered
                row["fault"] = type(fault).__name__
                return Answer(word=FAULT, said="it cannot be answered")

    def _counted(self, size: int) -> Answer | None:
        """Count one query of `size` bytes; the refusal where the meter is used up."""
        meter = self._meter
        with self._lock:
            if self.queries >= meter.queries or self.bytes >= meter.bytes:
                what = f"{meter.queries} queries" if self.queries >= meter.queries else f"{meter.bytes} bytes"
                return Answer(word=SPENT, said=f"all {what} of this task are used up; there is no other answer to come")
            self.queries += 1
            self.bytes += size
            self._keep(self.sums())
            return None

    def _refuse(self, word: str) -> None:
        with self._lock:
            self.refused[word] += 1
            self._keep(self.sums())

    def _note(self, row: Mapping[str, Any], answer: Answer, size: int, begun: float) -> None:
        """Tell of one query that was counted."""
        if answer.word != RAN:
            self._refuse(answer.word)
        told = {
            "at": round(begun - self._begun, 3),
            **row,
            "word": answer.word,
            "exit_code": answer.exit_code,
            "signal": answer.signal,
            "stdout": _digest(answer.stdout),
            "stderr": _digest(answer.stderr),
            "left": None if answer.files is None else _files(answer.files),
            "seconds": round(time.monotonic() - begun, 3),
        }
        with self._lock:
            self.bytes += size
            self._keep(self.sums())
            self._tell(told)


def _no_query(fault: WireError) -> Answer:
    return Answer(word=fault.word, said=str(fault))


def _asked(query: Query) -> dict[str, Any]:
    variables = [part for pair in query.env for part in pair]
    words, parts = _first(query.argv), _first(variables)
    cut = {"words": len(query.argv), **_digest(b"\0".join([*query.argv, *variables]))}
    return {
        "argv": words,
        "env": [list(pair) for pair in zip(parts[::2], parts[1::2], strict=False)],
        **({"cut": cut} if len(words) < len(query.argv) or len(parts) < len(variables) else {}),
        "stdin": _digest(query.stdin),
        "files": _files(query.files),
    }


def _first(words: Sequence[bytes]) -> list[str]:
    """The words as far as a row tells them."""
    kept, size = list[str](), 0
    for word in words:
        size += len(word) + _WORD
        if size > _TOLD:
            break
        kept.append(b64(word))
    return kept


def _digest(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _files(entries: Iterable[FileEntry]) -> dict[str, Any]:
    """How many, how large, and one digest of all of them."""
    found = sorted(entries)
    return {
        "entries": len(found),
        "bytes": sum(len(e.content) for e in found),
        "sha256": hashlib.sha256(canonical([encode_file(e) for e in found])).hexdigest(),
    }
