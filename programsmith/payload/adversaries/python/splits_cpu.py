"""Burns CPU in several processes, each within the limit, and then answers."""

from __future__ import annotations

import importlib
import os
import sys
import time

PROCESSES, SECONDS = 6, 0.12


def burn() -> None:
    """Use up SECONDS of this process's time."""
    while time.process_time() < SECONDS:
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    table = importlib.import_module("table")
    for _ in range(PROCESSES):
        child = os.fork()
        if not child:
            burn()
        os.waitpid(child, 0)
    os._exit(table.main())
