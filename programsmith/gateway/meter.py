"""The budget of a trial: what a call is held to cost before it is sent, and what it took after.

In: bounds and costs in dollars. Refuses a call that would pass the budget, and one more call than the trial may make.
Calls that run side by side hold side by side, so no race passes it. A call that took more than was held of it leaves
less for the next, so what is spent passes the budget by the error of the calls that ran at that moment at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from programsmith.gateway.refusal import Refused, Why


@dataclass(slots=True)
class Meter:
    """`usd` may be spent in all, in `calls_most` calls; `spent`, `held` and `calls` are how it stands."""

    usd: Decimal | None
    calls_most: int
    spent: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    calls: int = 0
    densest: float = math.inf  # bytes a token, of all requests that were answered

    @property
    def left(self) -> Decimal:
        """Dollars that nothing holds."""
        return max(Decimal(0), (self.usd or Decimal(0)) - self.spent - self.held)

    def hold(self, bound: Decimal) -> None:
        """Hold the bound of a call. Raises Refused."""
        if self.calls >= self.calls_most:
            raise Refused("budget", Why.CALLS, f"the trial has made its {self.calls_most} calls")
        most = self.usd or Decimal(0)
        if bound and self.spent + self.held + bound > most:
            raise Refused(
                "budget",
                Why.BUDGET,
                f"the call may cost {bound:f} usd; {self.spent:f} are spent and {self.held:f} held of the trial's "
                f"{most:f}",
            )
        self.held += bound
        self.calls += 1

    def spend(self, bound: Decimal, usd: Decimal) -> None:
        """Let go what was held for a call, and count what it took."""
        self.held -= bound
        self.spent += usd
