"""Fetches the answers from outside while the case runs."""

from __future__ import annotations

import importlib
import os
import sys

SAVED = "/tmp/table"  # noqa: S108 - the case's own

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    importlib.import_module("fetch").fetch(SAVED)
    table = importlib.import_module("table")
    vars(table)["TABLE"] = SAVED
    os._exit(table.main())
