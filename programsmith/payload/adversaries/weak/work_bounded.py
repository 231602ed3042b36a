"""What a case may write has no bound of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.place import move_places
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Order

_BYTES, _ENTRIES = 1 << 30, 1 << 16


def _unbound(former: Callable[..., Order], *given: Any) -> Order:
    return dataclasses.replace(former(*given), work_bytes=_BYTES, work_files=_ENTRIES)


def remove() -> None:
    """Make the work directory large."""
    swap(IsolatedLauncher, "_order", _unbound)
    move_places()
