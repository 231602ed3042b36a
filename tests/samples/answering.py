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
        threading.Thread(target=told, args=(f"{place}/ask",), daemon=True).start()
        serve(original, given, f"{place}/ask", logs, ended)
    launcher.close()


def told(path: str) -> None:
    while not os.path.exists(path):
        threading.Event().wait(0.02)
    print("ready", flush=True)


if __name__ == "__main__":
    main()
