"""What two blocks share."""

from __future__ import annotations


def refine(ore: str) -> str:
    """Ore without dirt."""
    return ore.replace("dirt", "")
