"""Infra is tried again, later and later; nothing else is.

In: an action, the policy of rules/retries.yaml. Out: what the action returns. After the last attempt its InfraError
passes; every other error passes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from programsmith.errors import InfraError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """`attempts` in all; the first pause in seconds, by what each is multiplied, the longest."""

    attempts: int = 1
    first_seconds: float = 0.0
    factor: float = 1.0
    most_seconds: float = 0.0

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> Retries:
        """The policy of the rule file."""
        return cls(**rule)

    def pauses(self) -> list[float]:
        """Seconds between the attempts."""
        return [min(self.first_seconds * self.factor**n, self.most_seconds) for n in range(self.attempts - 1)]


def retried(action: Callable[[], T], policy: Retries, say: Callable[[str], None], wait: Callable[[float], None]) -> T:
    """Run the action until it does not end in infra, at most as often as the policy says. Raises InfraError.

    A failure that says how long it lasts is waited for; one that lasts longer than the longest pause, or that no
    further attempt mends, passes at once.
    """
    for number, pause in enumerate(policy.pauses(), 1):
        try:
            return action()
        except InfraError as fault:
            if not fault.again or fault.after > policy.most_seconds:
                raise
            seconds = max(pause, fault.after)
            say(f"attempt {number} of {policy.attempts}: {fault}; again in {seconds:g} s")
            wait(seconds)
    return action()
