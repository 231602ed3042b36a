"""The grader looks for modules in the submission first, as one does that is started there."""

from __future__ import annotations

import sys


def remove() -> None:
    """Put the submission first, before anything else is imported."""
    sys.path.insert(0, sys.argv[sys.argv.index("--submission") + 1])
