"""Launches share the host's processes: they see and signal them, and what they start outlives them."""

from __future__ import annotations

from programsmith.payload.adversaries.weak.loose import loosen


def remove() -> None:
    """Tell no processes apart."""
    loosen()
