"""The build of an interpreted language may leave machine code."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import build_step


def _none(*_given: Any) -> str | None:
    return None


def remove() -> None:
    """Do not look at what a build left."""
    swap(build_step, "_machine_code", _none)
