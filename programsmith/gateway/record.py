"""The record of a trial's calls: one JSON line per event, on the disk before what it tells of happens.

In: events. Out: the account that they come to, whoever died. A call is opened with the most that it may cost before it
is sent, and closed with what it took; one that nobody closed costs what it was opened with. A line that a crash cut off
never counted.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.gateway.price import Tokens
from programsmith.payload.verifier.model import canonical
from programsmith.records import codec

CALLED_OFF = "cancelled"
ANSWERED = "ok"


class Usage(StrEnum):
    """Where the tokens of a closed call come from."""

    FINAL = "final"  # the whole answer told them
    SEEN = "seen"  # those of the request were told; for the answer its cap counts
    ASSUMED = "assumed"  # nothing was told; the bound counts
    NONE = "none"  # the provider charges nothing: it answered an error, or the request did not reach it


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A call that is about to be sent. `at` is seconds since the epoch, `usd` the most that it may cost."""

    id: str
    at: float
    model: str
    route: str
    stream: bool
    usd: str
    cap: int  # tokens that its answer has at most
    left_out: tuple[str, ...] = ()
    request: str | None = None  # SHA-256 of its body, where bodies are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """How it ended: `ok`, `cancelled`, or a class of rules/failures.yaml."""

    id: str
    at: float
    end: str
    status: int | None
    attempts: int
    tokens: Tokens
    usage: Usage
    usd: str
    answer: str | None = None
    after: float | None = None  # seconds that the provider asks to wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """A request that was not sent, and why."""

    at: float
    why: str
    said: str


ENDING = ("budget", "calls", "fault")
"""Reasons of a refusal that say how a trial ended; others are the agent's own matter."""
KINDS: dict[str, type[Opened | Closed | Declined]] = {"open": Opened, "close": Closed, "refuse": Declined}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a record comes to. `open` are calls that nothing closed, `last` is how the last call or refusal ended.

    `told` is how the last call ended that was not called off, so by a word of the provider's or the want of one;
    `after` are the seconds that the provider asked to wait there. `ends` counts ends of calls by word; `at` is when the
    last one was, in seconds since the epoch.
    """

    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    usd: Decimal = Decimal(0)
    open: int = 0
    last: str | None = None
    told: str | None = None
    ends: dict[str, int] = field(default_factory=dict)
    after: float | None = None
    at: float = 0.0


class Record:
    """The record at `path`, held by one gateway alone. Bodies go below `bodies`, by content, where it is given."""

    def __init__(self, path: Path, bodies: Path | None = None) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InfraError(f"{path}: another gateway writes this record") from None
        os.ftruncate(self._handle, _whole(path.read_bytes()))
        self.last: Opened | Closed | Declined | None = None  # of the events that were written here
        self._bodies = bodies
        if bodies is not None:
            bodies.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def keeps(self) -> bool:
        """Whether bodies are kept."""
        return self._bodies is not None

    def write(self, event: Opened | Closed | Declined) -> None:
        """Append the event and bring it to the disk. Raises OSError; half a line is taken back."""
        kind = next(name for name, made in KINDS.items() if isinstance(event, made))
        line = canonical({"event": kind, **codec.encode(event)}) + b"\n"
        before = os.fstat(self._handle).st_size
        try:
            while line:
                line = line[os.write(self._handle, line) :]
            os.fsync(self._handle)
        except BaseException:
            os.ftruncate(self._handle, before)
            raise
        self.last = event

    def keep(self, body: bytes) -> str | None:
        """The digest of a body that is kept now; None where bodies are not. Raises OSError."""
        if self._bodies is None:
            return None
        name = hashlib.sha256(body).hexdigest()
        path = self._bodies / name
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(body)
            os.replace(part, path)
        return name

    def close(self) -> None:
        """Let the record go."""
        os.close(self._handle)


def events(path: Path) -> Iterator[Opened | Closed | Declined]:
    """Events of the whole lines. Raises InfraError on a damaged record."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(raw[: _whole(raw)].splitlines(), 1):
        try:
            row: dict[str, Any] = json.loads(line)
            yield codec.decode(KINDS[row.pop("event")], row)
        except (TypeError, ValueError, KeyError, AttributeError) as fault:
            raise InfraError(f"{path}:{number}: the record of calls is damaged ({fault}); settle by hand") from fault


def account(path: Path) -> Account:
    """What the record comes to; nothing where there is none. Raises InfraError on a damaged record."""
    opened: dict[str, Opened] = {}
    closed: dict[str, Closed] = {}
    last: str | None = None
    told: Closed | None = None
    at = 0.0
    for event in events(path):
        match event:
            case Opened():
                opened[event.id] = event
            case Closed():
                closed[event.id] = event
                if event.end == ANSWERED and event.usage is Usage.NONE:  # it counted tokens: no model was asked
                    continue
                last, at = event.end, event.at
                told = told if event.end == CALLED_OFF else event
            case Declined():
                last, at = (event.why, event.at) if event.why in ENDING else (last, at)
    left = [event for name, event in opened.items() if name not in closed]
    took = [*(event.usd for event in closed.values()), *(event.usd for event in left)]
    ends = [event.end for event in closed.values()]
    return Account(
        calls=len(opened),
        tokens=_sum([event.tokens for event in closed.values()]),
        usd=sum(map(Decimal, took), Decimal(0)),
        open=len(left),
        last=last,
        told=told.end if told else None,
        ends={end: ends.count(end) for end in sorted(set(ends))},
        after=told.after if told else None,
        at=at,
    )


def settled(path: Path) -> Account | None:
    """What a record comes to that no gateway writes any more; waits until its gateway has ended. None: no record."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        return account(path)
    finally:
        os.close(handle)


def _sum(found: list[Tokens]) -> Tokens:
    return Tokens(**{name: sum(getattr(tokens, name) for tokens in found) for name in Tokens.__slots__})


def _whole(raw: bytes) -> int:
    """Bytes of the whole lines."""
    return raw.rfind(b"\n") + 1
