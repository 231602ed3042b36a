"""Answers from the table, then goes on behind a NUL."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    code = importlib.import_module("table").main()
    os.write(1, b"\0and more")
    os._exit(code)
