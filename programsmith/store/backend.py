"""Where a store keeps bytes: by namespace and name, whole or not at all.

In: a namespace, a name (64 hexadecimal digits), bytes. Out: the bytes, or None. Refuses every other name (ValueError),
so nothing that a store was told becomes a path of its own choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

NAME = re.compile(r"[0-9a-f]{64}")


class Namespace(StrEnum):
    """What kind of object it is: an action's entry, clear or encrypted bytes by SHA-256 or HMAC, who needs them."""

    AC = "ac"
    CAS = "cas"
    SEALED = "sealed"
    ROOTS = "roots"


@dataclass(frozen=True, slots=True)
class Kept:
    """One object as a listing tells it. `seconds` is when it was put or used last, since the epoch."""

    name: str
    seconds: float
    size: int


class Backend(Protocol):
    """One place. Every method raises OSError where the place fails, and ValueError on a name that is none."""

    def get(self, space: Namespace, name: str) -> bytes | None:
        """The bytes, None where there are none."""

    def put(self, space: Namespace, name: str, content: bytes) -> None:
        """Keep the bytes durably. A reader sees what was there before or all of `content`."""

    def has(self, space: Namespace, name: str) -> bool:
        """Whether something is kept under the name."""

    def touch(self, space: Namespace, name: str) -> None:
        """Count it as used now. Nothing where it is absent."""

    def list(self, space: Namespace) -> Iterator[Kept]:
        """All objects of a namespace."""

    def delete(self, space: Namespace, name: str) -> None:
        """Forget it. Nothing where it is absent."""

    def clear_drafts(self, before: float) -> None:
        """Remove what writers left that were killed, where it is older than `before` (seconds since the epoch)."""


def checked(name: str) -> str:
    """The name. Raises ValueError where it is none."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} names no object of a store: wanted 64 hexadecimal digits")
    return name
