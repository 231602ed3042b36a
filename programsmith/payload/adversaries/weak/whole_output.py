"""Output is compared as far as it goes."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import words
from programsmith.payload.verifier.compare import Comparator


def _as_far(_former: Any, _text: str) -> Comparator:
    return lambda expected, got: expected.startswith(got)


def remove() -> None:
    """Compare a prefix."""
    swap(words, "comparator", _as_far)
