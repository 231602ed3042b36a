"""The grader takes its modules, and what Python runs first, from the submission, as one that is started there."""

from __future__ import annotations

import contextlib
import importlib
import site
import sys

STARTERS = ("sitecustomize", "usercustomize")


def remove() -> None:
    """Put the submission first, before anything else is imported, and do what it says about starting."""
    folder = sys.argv[sys.argv.index("--submission") + 1]
    sys.path.insert(0, folder)
    site.addsitedir(folder)
    for name in STARTERS:
        sys.modules.pop(name, None)
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
