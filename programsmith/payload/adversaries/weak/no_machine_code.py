"""Machine code and bytecode pass for source."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import policy


def _nothing(_former: Any, _content: bytes) -> str | None:
    return None


def remove() -> None:
    """Recognise nothing."""
    swap(policy, "machine_code", _nothing)
