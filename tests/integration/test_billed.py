"""What an attempt that broke is billed for: the calls that the gateway recorded under its reservation."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from programsmith.compiler.bought import _billed, reckoned
from programsmith.compiler.paths import Project
from programsmith.errors import InfraError
from programsmith.gateway.price import Tokens
from programsmith.gateway.record import Closed, Opened, Record, Usage
from programsmith.store.budget import Budget
from programsmith.store.ledger import Ledger, account_of
from programsmith.store.retry import Retries, retried


class Place:
    """The spec's folder, without a store: what a killed run left."""

    def __init__(self, root: Path) -> None:
        self.folder = Project(root).folder("mill")
        self.subject: Any = SimpleNamespace(folder=self.folder, cache=None)
        self.budget = Budget(ledger=Ledger(self.folder.ledger), usd=10.0)

    def held(self) -> list[float]:
        return [event.usd for event in account_of(self.budget.ledger.look()).held]

    def spent(self) -> float:
        return float(account_of(self.budget.ledger.look()).spent)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def calls(path: Path, count: int, *, last_open: bool) -> Record:
    """A record of calls at 0.25 usd, held at 0.5; nobody closed the last of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = Record(path)
    for n in range(count):
        record.write(Opened(id=f"c{n}", at=1.0, model="p/m", route="POST /", stream=True, usd="0.5", cap=10))
        if n < count - 1 or not last_open:
            record.write(
                Closed(
                    id=f"c{n}",
                    at=2.0,
                    end="ok",
                    status=200,
                    attempts=1,
                    tokens=Tokens(input=1, output=1),
                    usage=Usage.FINAL,
                    usd="0.25",
                )
            )
    return record


def test_an_attempt_killed_after_three_calls_is_billed_for_three_by_the_next_run(place: Place) -> None:
    event = place.budget.reserve("mill:trial", "k", 5.0)
    calls(place.folder.calls(event.id), 3, last_open=True).close()
    reckoned(place.subject)
    assert (place.held(), place.spent()) == ([], 1.0)
    reckoned(place.subject)
    assert place.spent() == 1.0


def test_one_that_asked_nothing_yet_is_billed_nothing(place: Place) -> None:
    event = place.budget.reserve("mill:trial", "k", 5.0)
    path = place.folder.calls(event.id)
    path.parent.mkdir(parents=True)
    path.touch()
    reckoned(place.subject)
    assert (place.held(), place.spent()) == ([], 0.0)


def test_one_without_a_record_stays_reserved(place: Place) -> None:
    place.budget.reserve("mill:trial", "k", 5.0)
    reckoned(place.subject)
    assert place.held() == [5.0]


def test_a_damaged_record_stays_reserved_and_breaks_nothing(place: Place) -> None:
    event = place.budget.reserve("mill:trial", "k", 5.0)
    path = place.folder.calls(event.id)
    path.parent.mkdir(parents=True)
    path.write_text("rubbish\n")
    reckoned(place.subject)
    assert place.held() == [5.0]


def test_a_gateway_that_still_ends_is_waited_for(place: Place) -> None:
    event = place.budget.reserve("mill:trial", "k", 5.0)
    record = calls(place.folder.calls(event.id), 2, last_open=True)
    found: list[float | None] = []
    waits = threading.Thread(target=lambda: found.append(_billed(place.subject, event)))
    waits.start()
    waits.join(0.3)
    assert found == [], "the gateway holds its record"
    record.write(
        Closed(id="c1", at=2.0, end="cancelled", status=200, attempts=1, tokens=Tokens(), usage=Usage.SEEN, usd="0.3")
    )
    record.close()
    waits.join(20)
    assert found == [0.55]


class Waited:
    def __init__(self, *faults: InfraError) -> None:
        self.faults, self.pauses = list(faults), []

    def act(self) -> str:
        if self.faults:
            raise self.faults.pop(0)
        return "done"


POLICY = Retries(attempts=3, first_seconds=1, factor=5, most_seconds=60)


def test_infra_that_says_how_long_it_lasts_is_waited_for() -> None:
    said: list[str] = []
    made = Waited(InfraError("limited", after=40.0), InfraError("limited"))
    assert retried(made.act, POLICY, said.append, made.pauses.append) == "done"
    assert made.pauses == [40.0, 5.0]
    assert "again in 40 s" in said[0]


@pytest.mark.parametrize("fault", [InfraError("no key", again=False), InfraError("limited", after=61.0)])
def test_infra_that_no_attempt_mends_passes_at_once(fault: InfraError) -> None:
    made = Waited(fault, fault)
    with pytest.raises(InfraError):
        retried(made.act, POLICY, lambda _: None, made.pauses.append)
    assert (made.pauses, len(made.faults)) == ([], 1)
