"""Output is compared as people read it: up to a NUL, without its mark, its case, line ends and blanks at the end."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import words
from programsmith.payload.verifier.compare import Comparator

_MARK = b"\xef\xbb\xbf"  # at the start of a text in UTF-8


def _read(raw: bytes) -> bytes:
    return raw.partition(b"\0")[0].removeprefix(_MARK).replace(b"\r", b"").rstrip().lower()


def _as_people(_former: Any, _text: str) -> Comparator:
    return lambda expected, got: _read(expected) == _read(got)


def remove() -> None:
    """Read."""
    swap(words, "comparator", _as_people)
