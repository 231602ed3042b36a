"""The ledger of a spec: what was reserved and spent, one JSON line per event, durable before it counts.

In: events. Out: the account that they come to. A reservation that nothing closed stays: nobody knows whether the call
behind it was paid. A line that a crash cut off never counted and is removed; any other damage is refused (InfraError),
for a ledger that loses lines would spend money twice.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.model import canonical
from programsmith.records import codec


class Kind(StrEnum):
    """What happened to a reservation."""

    RESERVE = "reserve"
    SPEND = "spend"  # the call ended; usd is what it took
    SETTLE = "settle"  # it did not, or nobody saw it; a person, the provider's record or the price says what it took


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line. `id` joins a reservation with what closes it; `at` is seconds since the epoch."""

    kind: Kind
    id: str
    task: str
    key: str
    usd: float
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Dollars spent, and the reservations that nothing closed."""

    spent: Decimal
    held: tuple[Event, ...]

    @property
    def reserved(self) -> Decimal:
        """Dollars of all reservations that nothing closed."""
        return sum((_usd(event) for event in self.held), Decimal(0))


class Ledger:
    """The ledger at `path`, which is made with its first event."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def account(self) -> Account:
        """How it stands. Raises InfraError on a damaged ledger."""
        if not self.path.exists():
            return Account(spent=Decimal(0), held=())
        with self._open() as handle:
            return account_of(self._events(handle))

    def look(self) -> list[Event]:
        """All events, for who only looks: nothing is held or mended. Raises InfraError on a damaged ledger."""
        try:
            return self._parsed(self.path.read_bytes())
        except FileNotFoundError:
            return []

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Hold the ledger alone: what is read holds until what is written is durable. Raises InfraError."""
        with self._open() as handle:
            yield Writing(handle, account_of(self._events(handle)))

    def settle(self, identity: str, usd: float, at: float) -> Event:
        """Close a held reservation with what it took. Raises InputError where none is held under the id."""
        with self.writing() as ledger:
            held = {event.id: event for event in ledger.account.held}
            if identity not in held:
                known = ", ".join(held) or "none"
                raise InputError(f"{self.path}: no reservation {identity!r} is held; held are: {known}")
            opened = held[identity]
            event = Event(kind=Kind.SETTLE, id=identity, task=opened.task, key=opened.key, usd=usd, at=at)
            ledger.append(event)
            return event

    @contextmanager
    def _open(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    def _events(self, handle: int) -> list[Event]:
        raw = _whole(handle)
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw):
            os.ftruncate(handle, whole)
        return self._parsed(raw)

    def _parsed(self, raw: bytes) -> list[Event]:
        """Events of the whole lines."""
        lines = raw[: raw.rfind(b"\n") + 1].splitlines()
        return [self._event(number, line) for number, line in enumerate(lines, 1)]

    def _event(self, number: int, line: bytes) -> Event:
        try:
            return codec.decode(Event, json.loads(line))
        except (TypeError, ValueError, KeyError, AttributeError) as fault:
            wanted = "repair the line, or move the file away and settle by hand what it held"
            raise InfraError(f"{self.path}:{number}: the ledger is damaged ({fault}); {wanted}") from fault


class Writing:
    """A ledger that is held: its account, and appending to it."""

    def __init__(self, handle: int, account: Account) -> None:
        self._handle = handle
        self.account = account

    def append(self, event: Event) -> None:
        """Write the event and bring it to the disk. A line that does not fit is taken back. Raises OSError."""
        line = canonical(codec.encode(event)) + b"\n"
        before = os.fstat(self._handle).st_size
        try:
            _write(self._handle, line)
        except BaseException:
            os.ftruncate(self._handle, before)
            raise


def _write(handle: int, line: bytes) -> None:
    """Write all of the line, durably. A write that stops halfway is tried on, so that it tells why."""
    while line:
        line = line[os.write(handle, line) :]
    os.fsync(handle)


def _whole(handle: int) -> bytes:
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        return file.read()


def account_of(events: Iterable[Event]) -> Account:
    """What the events come to."""
    held: dict[str, Event] = {}
    spent = Decimal(0)
    for event in events:
        if event.kind is Kind.RESERVE:
            held[event.id] = event
            continue
        held.pop(event.id, None)
        spent += _usd(event)
    return Account(spent=spent, held=tuple(held.values()))


def _usd(event: Event) -> Decimal:
    return Decimal(str(event.usd))
