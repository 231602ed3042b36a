"""Answers once it runs far more processes than a case may have."""

from __future__ import annotations

import importlib
import os
import sys
import time

PROCESSES = 40


def many() -> bool:
    """Whether all of them could be started."""
    try:
        for _ in range(PROCESSES):
            if not os.fork():
                time.sleep(20)
                os._exit(0)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    table = importlib.import_module("table")
    os._exit(table.main() if many() else 1)
