"""The third sandbox of a trial: where the original runs, once for each query of the agent, in a place of its own.

In: what whoever answers is given. Out: what the agent's sandbox is shown to reach it (a socket), the rows of what was
asked. The original's files are in no other sandbox. It runs as cases were captured, on this host, whatever backend
holds the agent.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from programsmith.agents.bridge.line import bound
from programsmith.errors import InfraError
from programsmith.payload.query.desk import Desk
from programsmith.payload.query.given import Given, laid
from programsmith.payload.query.wire import SOCKET
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import shared_root


@dataclass(slots=True, kw_only=True)
class Queried:
    """What a sandbox is shown to ask, and how many queries there were; after the end `settle` has the last word."""

    live: tuple[Mount, ...] = ()
    queries: int = 0
    fault: str = field(default="")

    def settle(self) -> int:
        """The number of queries. Raises InfraError where this host could not start the original."""
        if self.fault:
            raise InfraError(f"the original could not be started for a query: {self.fault}; run again")
        return self.queries


@contextmanager
def answering(given: Given, view: View, folder: Path, log: Path) -> Iterator[Queried]:
    """Answer queries for the time of the block; `folder` is new and private, `log` gets a line of JSON for each query.

    `view` is that of the original's cases. Afterwards no query is under way and nobody is answered. Raises InfraError,
    PrerequisiteError.
    """
    with ExitStack() as stack:
        closed = stack.enter_context(scratch("queries", shared_root()))  # to this host's other users
        place = closed / "place"
        place.mkdir()
        place.chmod(0o755)
        launcher = open_launcher(view)
        stack.callback(launcher.close)
        original = laid(given, str(folder), launcher)
        out = stack.enter_context(open(log, "w", encoding="ascii"))
        listener = bound(place, os.path.basename(SOCKET), socket.SOCK_STREAM)
        desk = Desk(listener, original.answer, given.meter, lambda row: _write(out, row))
        queried = Queried(live=(Mount(source=str(place), target=os.path.dirname(SOCKET)),))
        try:
            desk.open()
            yield queried
        finally:
            desk.close()
            queried.queries, queried.fault = desk.queries, desk.broken
            _write(out, desk.sums())


def _write(out: TextIO, row: Mapping[str, Any]) -> None:
    """One line; whatever ends the trial, what was asked before is told."""
    out.write(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n")
    out.flush()
