"""Holds its slot far longer than it may without using any CPU, and then answers."""

from __future__ import annotations

import importlib
import os
import sys
import time

SECONDS = 2.5

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    table = importlib.import_module("table")
    time.sleep(SECONDS)
    os._exit(table.main())
