"""NUL is no character."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import words
from programsmith.payload.verifier.compare import Comparator


def _without_nul(former: Callable[[str], Comparator], text: str) -> Comparator:
    same = former(text)
    return lambda expected, got: same(expected.replace(b"\0", b""), got.replace(b"\0", b""))


def remove() -> None:
    """Strip NUL."""
    swap(words, "comparator", _without_nul)
