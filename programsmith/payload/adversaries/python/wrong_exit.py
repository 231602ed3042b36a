"""Prints the right answer and ends with a wrong exit code."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    os._exit(importlib.import_module("table").main() ^ 1)
