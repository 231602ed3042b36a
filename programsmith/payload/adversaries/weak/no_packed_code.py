"""Only plain machine code is recognised, none in an encoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import policy
from programsmith.payload.verifier.layers import Budget, Layer


def _none(_former: Any, _content: bytes, _budget: Budget) -> Iterator[Layer]:
    return iter(())


def remove() -> None:
    """Unpack nothing."""
    swap(policy, "layers", _none)
