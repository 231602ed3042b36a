"""Memory is limited per process only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier.cgroup import Group
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Order

_NO_LIMIT = 1 << 40


def _unlimited(former: Callable[[Group, int, int], None], group: Group, _memory: int, pids: int) -> None:
    former(group, _NO_LIMIT, pids)


def _unwatched(former: Callable[..., Order], *given: Any) -> Order:
    return dataclasses.replace(former(*given), memory=_NO_LIMIT, shared=_NO_LIMIT)


def remove() -> None:
    """Count for no case as a whole."""
    swap(Group, "begin", _unlimited)
    swap(IsolatedLauncher, "_order", _unwatched)
