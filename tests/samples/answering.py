"""Answers queries of an exported task as its container does, in this host's own sandbox: TASK PLACE LOGS LANGUAGE.

Says `ready` on stdout, and answers at PLACE/ask until it is told to end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from programsmith.payload.query.given import laid
from programsmith.payload.query.serve import read, serve
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.scratch import scratch
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import run_view


def main() -> None:
    task, place, logs, language = sys.argv[1:]
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    given, _ = read(f"{task}/solution/reference")
    launcher = open_launcher(run_view(toolchains(Rulebook(None).load("toolchains"))[language]))
    with scratch("answering") as folder:
        original = laid(given, str(Path(folder) / "oracle"), launcher)
        original.require_host()
        original.require_known(given.known)
        path = f"{place}/ask"
        threading.Thread(target=told, args=(path, made(path)), daemon=True).start()
        serve(original, given, path, logs, ended)
    launcher.close()


def made(path: str) -> int:
    """When, in nanoseconds; 0 where nothing is."""
    try:
        return os.stat(path).st_ctime_ns
    except FileNotFoundError:
        return 0


def told(path: str, left: int) -> None:
    """`left` is what one that was killed left there."""
    while made(path) in {0, left}:
        threading.Event().wait(0.02)
    print("ready", flush=True)


if __name__ == "__main__":
    main()
