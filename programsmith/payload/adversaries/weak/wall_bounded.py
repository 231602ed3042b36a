"""Nobody looks at the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.pump import Pump

_FAR = 60.0  # seconds by which a deadline is moved


def _patient(former: Callable[..., Pump], *given: Any) -> Pump:
    pump = former(*given)
    pump.deadline += _FAR
    return pump


def remove() -> None:
    """Wait."""
    swap(IsolatedLauncher, "_pump", _patient)
