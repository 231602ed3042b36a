"""Puts one function in the place of another, which it is handed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def swap(where: object, name: str, other: Callable[..., Any]) -> None:
    """Let `other` answer for attribute `name`; it gets the former one first. Raises AttributeError without one."""
    former = getattr(where, name)

    def swapped(*given: Any, **named: Any) -> Any:
        return other(former, *given, **named)

    setattr(where, name, swapped)
