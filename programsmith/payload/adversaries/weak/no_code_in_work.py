"""Code may be loaded from what a case wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import isolated
from programsmith.payload.verifier.wire import Flag


def _loadable(former: Callable[..., Flag], *given: Any) -> Flag:
    return former(*given) | Flag.EXEC_WORK


def remove() -> None:
    """Let the work directory hold code."""
    swap(isolated, "_flags", _loadable)
