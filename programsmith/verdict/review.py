"""The command with which a person goes on where a build parked."""

from __future__ import annotations


def go_on(name: str, block: str) -> str:
    """The exact command that accepts what `block` proposed for the spec `name`."""
    return f"programsmith build spec={name} approve={block}"
