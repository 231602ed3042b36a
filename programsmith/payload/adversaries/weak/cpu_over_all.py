"""CPU time is limited per process only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import isolated
from programsmith.payload.verifier.cgroup import Group
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.wire import Order

_NO_LIMIT = 1 << 62


def _uncounted(former: Callable[..., Result], *given: Any) -> Result:
    result = former(*given)
    return dataclasses.replace(result, cpu_seconds=0.0, limits_hit=result.limits_hit - {"cpu"})


def _unwatched(former: Callable[..., Order], *given: Any) -> Order:
    return dataclasses.replace(former(*given), cpu_us=_NO_LIMIT)


def _none(*_given: Any) -> float:
    return 0.0


def remove() -> None:
    """Count for no case as a whole."""
    swap(isolated, "settle", _uncounted)
    swap(isolated.IsolatedLauncher, "_order", _unwatched)
    swap(Group, "cpu_seconds", _none)
