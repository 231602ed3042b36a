"""The third sandbox of a trial: where the original runs, once for each query of the agent, in a place of its own.

In: the original's tree and how it is started, the meter, what the task shows anyway. Out: what the agent's sandbox is
shown to reach it (a socket), the rows of what was asked. The original's files are in no other sandbox. It runs as cases
were captured, on this host, whatever backend holds the agent.
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
from programsmith.payload.query.desk import Desk, Meter
from programsmith.payload.query.original import Original, Secret, guarded
from programsmith.payload.query.wire import SOCKET
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import OracleFacts
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import shared_root
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.views import run_view

RUN_BYTES, DISTINCT_BYTES = 64, 6
"""A run of the original's own text that no answer shows, as the check of a bundle counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked: the original's tree, how it starts, its toolchain, a case's limits, the meter.

    `shown` are texts that an agent has anyway, `variables` names that a query may set.
    """

    tree: tuple[FileEntry, ...]
    facts: OracleFacts
    toolchain: Toolchain
    limits: Limits
    meter: Meter
    shown: tuple[bytes, ...]
    variables: tuple[bytes, ...] = ()


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
def answering(asked: Asked, folder: Path, log: Path) -> Iterator[Queried]:
    """Answer queries for the time of the block; `folder` is new and private, `log` gets a line of JSON for each query.

    Afterwards no query is under way and nobody is answered. Raises InfraError, PrerequisiteError.
    """
    with ExitStack() as stack:
        closed = stack.enter_context(scratch("queries", shared_root()))  # to this host's other users
        place = closed / "place"
        place.mkdir()
        place.chmod(0o755)
        original = _original(asked, folder, stack)
        out = stack.enter_context(open(log, "w", encoding="ascii"))
        listener = bound(place, os.path.basename(SOCKET), socket.SOCK_STREAM)
        desk = Desk(listener, original.answer, asked.meter, lambda row: _write(out, row))
        queried = Queried(live=(Mount(source=str(place), target=os.path.dirname(SOCKET)),))
        try:
            desk.open()
            yield queried
        finally:
            desk.close()
            queried.queries, queried.fault = desk.queries, desk.broken
            _write(out, {"queries": desk.queries, "bytes": desk.bytes, "refused": dict(sorted(desk.refused.items()))})


def _original(asked: Asked, folder: Path, stack: ExitStack) -> Original:
    """The original behind a launcher of its own."""
    tree, searched = guarded(asked.tree, asked.toolchain.suffixes)
    write_tree(str(folder), tree)
    for entry in tree:
        if entry.kind == "file":
            os.chmod(os.path.join(os.fsencode(folder), entry.path), entry.mode & 0o555)
    launcher = open_launcher(run_view(asked.toolchain, asked.facts.exec_allowed))
    stack.callback(launcher.close)
    base = Request(
        program=asked.facts.program,
        argv=(asked.facts.tool.encode(),),
        env=case_env(),
        limits=asked.limits,
        mounts=(Mount(source=str(folder), target=ORACLE),),
    )
    secret = Secret(files=searched, shown=asked.shown, size=RUN_BYTES, distinct=DISTINCT_BYTES)
    return Original(launcher, base, secret, asked.variables)


def _write(out: TextIO, row: Mapping[str, Any]) -> None:
    """One line; whatever ends the trial, what was asked before is told."""
    out.write(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n")
    out.flush()
