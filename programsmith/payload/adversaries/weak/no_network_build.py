"""compile.sh reaches the host's network."""

from __future__ import annotations

from programsmith.payload.adversaries.weak.network import open_network


def remove() -> None:
    """Open the build stage."""
    open_network(build=True)
