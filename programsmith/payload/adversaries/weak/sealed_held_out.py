"""The held-out cases lie in clear."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade


def _as_it_is(_former: Any, sealed: bytes, *_given: Any) -> bytes:
    return sealed


def remove() -> None:
    """Open nothing."""
    swap(grade, "unseal", _as_it_is)
