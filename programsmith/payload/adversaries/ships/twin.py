"""A program of the system that does what the tool does. It lies at /twin, which no submission can write."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/twin")
    table = importlib.import_module("table")
    vars(table)["TABLE"] = "/twin/table.txt"
    os._exit(table.main())
