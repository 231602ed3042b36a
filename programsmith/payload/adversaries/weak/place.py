"""Where the weakened verifier keeps its tests: a view that is too wide shows them."""

from __future__ import annotations

import sys


def argument(name: str) -> str:
    """The word that follows `name` on the verifier's command line."""
    return sys.argv[sys.argv.index(name) + 1]
