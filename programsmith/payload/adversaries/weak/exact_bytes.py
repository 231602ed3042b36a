"""Output is compared up to its first NUL, as strings of C are."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import words
from programsmith.payload.verifier.compare import Comparator


def _as_strings(_former: Any, _text: str) -> Comparator:
    return lambda expected, got: expected.partition(b"\0")[0] == got.partition(b"\0")[0]


def remove() -> None:
    """Stop at NUL."""
    swap(words, "comparator", _as_strings)
