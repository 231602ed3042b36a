"""Writes more than a case may, in many files, takes it away again and answers."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile

FILES, BYTES = 16, 1 << 20


def fill() -> bool:
    """Whether everything could be written."""
    place = tempfile.gettempdir()
    names = [f"{place}/{number}" for number in range(FILES)]
    try:
        for name in names:
            with open(name, "wb") as file:
                file.write(bytes(BYTES))
    except OSError:
        return False
    for name in names:
        os.unlink(name)
    return True


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    table = importlib.import_module("table")
    os._exit(table.main() if fill() else 1)
