"""Leaves a process behind, in the way that way.txt names; its command line holds the host's word for it."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import NoReturn

LIFE = "import time; time.sleep(4)"


def linger(token: str) -> NoReturn:
    """Become the process that stays."""
    os.execv("/usr/bin/python3", ["python3", "-IS", "-c", LIFE, token])  # noqa: S606


def alone() -> None:
    """Leave the session and everything that is open."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)


def main(way: str, token: str) -> None:
    """Start it and end."""
    if os.fork():
        return
    alone()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if way == "timer":
        signal.signal(signal.SIGALRM, lambda *_: linger(token))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        while True:
            signal.pause()
    if not os.fork():
        linger(token)
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    main(kit.word("way"), kit.word("token"))
    signal.sigtimedwait([], 0.1)
