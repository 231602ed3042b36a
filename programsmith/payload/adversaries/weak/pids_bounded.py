"""A case may start as many processes as it likes."""

from __future__ import annotations

import dataclasses
import resource
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier.cgroup import Group
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Order

_MANY = 4096


def _unlimited(former: Callable[[Group, int, int], None], group: Group, memory: int, _pids: int) -> None:
    former(group, memory, _MANY)


def _unbound(former: Callable[..., Order], *given: Any) -> Order:
    order = former(*given)
    kept = tuple(limit for limit in order.limits if limit[0] != resource.RLIMIT_NPROC)
    return dataclasses.replace(order, limits=kept)


def remove() -> None:
    """Count no processes."""
    swap(Group, "begin", _unlimited)
    swap(IsolatedLauncher, "_order", _unbound)
