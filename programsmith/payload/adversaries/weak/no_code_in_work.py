"""Code may be loaded from what a case wrote. A container's proof at the start would see it, so it is silenced too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.place import move_places
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import isolated, isolation
from programsmith.payload.verifier.wire import Flag


def _loadable(former: Callable[..., Flag], *given: Any) -> Flag:
    return former(*given) | Flag.EXEC_WORK


def _believe(*_given: Any) -> None:
    """Prove nothing."""


def remove() -> None:
    """Let the work directory hold code."""
    swap(isolation, "prove", _believe)
    swap(isolated, "_flags", _loadable)
    move_places()
