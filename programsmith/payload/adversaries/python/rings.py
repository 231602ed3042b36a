"""Meets another case over this machine's own network, and answers only then."""

from __future__ import annotations

import importlib
import os
import socket
import sys
import time

PORT, PATIENCE, TICK = 45_871, 3.0, 0.02


def met() -> bool:
    """Whether another one came, or was there."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with socket.create_server(("127.0.0.1", PORT)) as server:
                server.settimeout(until - time.monotonic())
                server.accept()[0].close()
                return True
        except TimeoutError:
            return False
        except OSError:
            try:
                socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
            except OSError:
                time.sleep(TICK)
                continue
            return True
    return False


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    os._exit(kit.answer() if met() else 1)
