"""The grader looks for modules in the submission first, as one does that is started there."""

from __future__ import annotations

import sys

from programsmith.payload.adversaries.weak.place import argument


def remove() -> None:
    """Put the submission first."""
    sys.path.insert(0, argument("--submission"))
