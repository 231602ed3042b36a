"""Tests that a submission brings along are taken for the verifier's."""

from __future__ import annotations

import os
import sys

from programsmith.payload.adversaries.weak.place import argument


def remove() -> None:
    """Prefer what was handed in."""
    brought = os.path.join(argument("--submission"), "tests")
    if os.path.exists(os.path.join(brought, "plan.json")):
        sys.argv[sys.argv.index("--tests") + 1] = brought
