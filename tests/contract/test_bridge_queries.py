"""A harness beside an original that may be asked: its commands reach it, the agent's own sandbox has no way to it."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.agents.bridge.line import bound
from programsmith.bundle.zipapp import ask_pyz
from programsmith.payload.query.desk import Desk, Meter
from programsmith.payload.query.wire import Answer, Query
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import shared_root
from tests.contract.pairs import BACKENDS, ended, pair

TELLS = FileEntry(b"reference/rot", "file", 0o755, ask_pyz())


def turned(query: Query) -> Answer:
    """What a program would answer that turns letters by one, or dies of a signal when told to."""
    if query.argv == (b"die",):
        return Answer(signal=6)
    return Answer(exit_code=4, stdout=bytes(byte + 1 for byte in query.stdin), stderr=b"said\n")


@contextlib.contextmanager
def desk() -> Iterator[tuple[Desk, Mount]]:
    with scratch("queries", shared_root()) as closed:
        place = closed / "place"
        place.mkdir()
        place.chmod(0o755)
        rows: list = []
        found = Desk(
            bound(place, "ask", socket.SOCK_STREAM), turned, Meter(queries=9, bytes=1 << 20, slots=1), rows.append
        )
        found.open()
        try:
            yield found, Mount(source=str(place), target="/run/oracle")
        finally:
            found.close()


@pytest.mark.parametrize("kind", BACKENDS)
def test_commands_ask_and_the_agent_itself_has_no_way(kind, tmp_path: Path) -> None:
    with desk() as (found, live), pair(kind, tmp_path, live=(live,), app=(TELLS,)) as (opened, plan):
        how = ended(opened, plan, "asking.py")
    said = json.loads(how.agent.stdout)
    assert said["asked"] == [4, "bcd", "said\n"]
    assert said["died"][0] == -6
    assert (said["there"], said["direct"]) == (False, "FileNotFoundError")
    assert found.queries == 2
