"""A comparator follows whatever nesting a program prints."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import compare


def _flat(_former: Any, _text: str) -> int:
    return 0


def remove() -> None:
    """Measure no depth."""
    swap(compare, "_depth", _flat)
