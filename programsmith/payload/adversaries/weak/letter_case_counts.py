"""Capital and small letters are the same."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import words
from programsmith.payload.verifier.compare import Comparator


def _folded(former: Callable[[str], Comparator], text: str) -> Comparator:
    same = former(text)
    return lambda expected, got: same(expected.lower(), got.lower())


def remove() -> None:
    """Fold case."""
    swap(words, "comparator", _folded)
