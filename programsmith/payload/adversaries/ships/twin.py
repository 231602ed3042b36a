"""A program of the system that does what the tool does. It lies where no submission can write."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    table = importlib.import_module("table")
    vars(table)["TABLE"] = os.path.join(here, "table.txt")
    os._exit(table.main())
