"""Gives the right answer and goes on, for ever."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    importlib.import_module("table").main()
    while True:
        os.write(1, b"more " * 4096)
