"""A case may execute a file that lies on no mount. The proof at the start would see it, so it is silenced too."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import isolation, seccomp


def _believe(*_given: Any) -> None:
    """Prove nothing."""


def remove() -> None:
    """Allow files in memory."""
    del seccomp.ABSENT["memfd_create"]
    swap(isolation, "prove", _believe)
