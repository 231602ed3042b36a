"""Answers from the table, and leaves a link out of the work directory, a fifo and a file that nobody asked for."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    code = importlib.import_module("table").main()
    os.symlink("/etc/passwd", "left-link")
    os.mkfifo("left-fifo")
    with open("left-file", "wb") as file:
        file.write(b"state")
    os._exit(code)
