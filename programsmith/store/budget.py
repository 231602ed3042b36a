"""The budget of a spec: money is reserved before a call that costs, and a call that could pass the budget is not made.

In: the ledger, the most that may be spent. Out: a reservation around the call. Refuses with BudgetError before anything
was spent. A call whose end nobody saw keeps its reservation.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

from programsmith.errors import BudgetError
from programsmith.store.ledger import Event, Kind, Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """At most `usd` dollars over all that the ledger holds; None: nothing that costs may be called."""

    ledger: Ledger
    usd: float | None

    def reserve(self, task: str, key: str, bound: float) -> Event:
        """Reserve the upper bound of a call, durably. Raises BudgetError where the budget does not allow it."""
        asked = Decimal(str(bound))
        most = Decimal(str(self.usd)) if self.usd is not None else Decimal(0)
        with self.ledger.writing() as ledger:
            spent, held = ledger.account.spent, ledger.account.reserved
            if asked and spent + held + asked > most:
                settle = "; or close what is reserved for calls that ended: programsmith settle" if held else ""
                raise BudgetError(
                    f"{task} may cost {asked} usd; {spent} are spent and {held} reserved of budget.usd {most}. What "
                    f"was bought stays: raise budget.usd to at least {spent + held + asked} and build again{settle}"
                )
            event = Event(kind=Kind.RESERVE, id=uuid.uuid4().hex, task=task, key=key, usd=bound, at=time.time())
            ledger.append(event)
            return event

    def close(self, reservation: Event, kind: Kind, usd: float) -> None:
        """Close a reservation with what the call took."""
        with self.ledger.writing() as ledger:
            ledger.append(replace(reservation, kind=kind, usd=usd, at=time.time()))

    @contextmanager
    def reserved(self, task: str, key: str, bound: float) -> Iterator[list[float]]:
        """Reserve around a call, and close that."""
        with self.closing(self.reserve(task, key, bound)) as took:
            yield took

    @contextmanager
    def closing(self, reservation: Event) -> Iterator[list[float]]:
        """Close a reservation after its call. The caller puts what it took into the list; an empty one keeps it open.

        What is broken off was not bought: its reservation is settled where it is known what it took, or it is free.
        """
        took: list[float] = []
        ended = Kind.SETTLE
        try:
            yield took
            ended = Kind.SPEND
        finally:
            if took or not reservation.usd:
                self.close(reservation, ended, sum(took))
