"""How a pair of sandboxes ends: whatever the agent leaves, whoever ends it, whichever limit is passed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents import place
from programsmith.errors import InfraError
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.sandboxes.owners import prefix
from programsmith.sandboxes.shared import shared_root
from tests.contract.launches import until
from tests.contract.pairs import BACKENDS, KINDS, LIMITS, SAMPLES, SHARES, UNCOUNTED, Kind, begin, ended, pair

SCRIPT = "ending.py"


@pytest.fixture(params=BACKENDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=KINDS)
def any_kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


def alive(mark: str) -> list[str]:
    """Processes of this host with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_nothing_outlives_the_agent(any_kind: Kind, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    with pair(any_kind, tmp_path) as (opened, plan):
        running = begin(opened, plan, SCRIPT, "leaves_jobs", mark)
        how = running.wait()
        assert alive(mark) == []
        kept = running.take(max_files=10, max_bytes=1 << 20)
        found = place.collect(opened.task, ReceiptRule(files=100, bytes=1 << 20, depth=64))
    assert (how.agent.exit_code, how.task.exit_code, how.refused, how.stopped) == (7, 0, 0, False)
    assert how.agent.limits_hit == frozenset()
    assert [e.content for e in kept if e.path == b"log"] == [b"kept"]
    assert [(e.path, e.content) for e in found.entries] == [(b"work", b"done")]


@pytest.mark.attack
def test_a_daemon_does_outlive_what_started_it_outside() -> None:
    """The control of the test above."""
    mark = uuid.uuid4().hex
    code = (
        "import os, time\nif pid := os.fork(): os.waitpid(pid, 0)\n"
        "else:\n os.setsid()\n if os.fork() == 0: time.sleep(60)\n os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, mark], check=True)
    left = alive(mark)
    for pid in left:
        os.kill(int(pid), 9)
    assert left


def test_a_pair_is_for_one_agent_whose_death_is_told_and_leaves_nothing(any_kind: Kind, tmp_path: Path) -> None:
    with pair(any_kind, tmp_path) as (opened, plan):
        assert ended(opened, plan, SCRIPT, "dies").agent.signal == 15
        with pytest.raises(InfraError, match="one agent"):
            begin(opened, plan, SCRIPT, "dies")
    assert [p.name for word in ("line", "workspace") for p in shared_root().glob(f"{prefix(word)}*")] == []


def test_a_program_that_is_not_there_is_told(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        how = opened.start((b"/opt/agent/none",), env=plan.env, cwd="/app", limits=LIMITS, own=SHARES).wait()
    assert (how.agent.exit_code, how.agent.stderr) == (127, b"/opt/agent/none: No such file or directory\n")


def test_it_can_be_stopped(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        running = begin(opened, plan, SCRIPT, "waits")
        threading.Timer(0.5, running.stop).start()
        how = running.wait()
        running.stop()
    assert how.stopped
    assert how.agent.wall_seconds < 60


def test_leaving_the_block_ends_it(kind: Kind, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex

    def interrupted() -> None:
        with pair(kind, tmp_path) as (opened, plan):
            begin(opened, plan, SCRIPT, "waits", mark)
            until(lambda: alive(mark) != [])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert alive(mark) == []


def test_the_wall_limit_is_the_agents(any_kind: Kind, tmp_path: Path) -> None:
    with pair(any_kind, tmp_path) as (opened, plan):
        how = begin(opened, plan, SCRIPT, "waits", limits=replace(LIMITS, wall_seconds=4.0)).wait()
    assert (how.agent.limits_hit, how.task.limits_hit) == ({"wall"}, frozenset())


def test_a_command_that_ends_its_sandbox_ends_the_trial(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "kills_server")
    assert how.task.signal == 9
    assert how.agent.exit_code == 143
    assert not how.stopped


@pytest.mark.attack
def test_output_is_bounded(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "floods")
    assert (how.agent.limits_hit, len(how.agent.stdout)) == ({"output"}, LIMITS.output_bytes)


@pytest.mark.attack
def test_a_flood_of_a_command_goes_to_the_agent_alone(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "command_floods")
    assert how.agent.stdout == b"%d 0\n" % (1 << 27)
    assert how.task.stdout == b""


BOUNDS: dict[str, Any] = {"memory_bytes": 400 << 20, "work_bytes": 32 << 20}
EXHAUSTED = {
    ("command", "forks"): {"processes": 80},
    ("command", "memory"): {"memory": 340 << 20},
    ("command", "disk"): {"disk": 28 << 20, "fill": ["/home/agent", "/tmp"]},
    ("agent", "forks"): {"processes": 30},
    ("agent", "memory"): {"memory": 160 << 20},
    ("agent", "disk"): {"disk": 12 << 20, "fill": ["/home/harness"]},
}
"""More than a side has, and less than both have together."""


@pytest.mark.attack
@pytest.mark.parametrize("name", EXHAUSTED, ids=" ".join)
def test_what_there_is_is_bounded(kind: Kind, tmp_path: Path, name: tuple[str, str]) -> None:
    words, limits = (*name, json.dumps(EXHAUSTED[name])), replace(LIMITS, **BOUNDS)
    with pair(kind, tmp_path) as (opened, plan):
        how = begin(opened, plan, SCRIPT, "exhausts", *words, limits=limits).wait()
    hits = how.agent.limits_hit | how.task.limits_hit
    assert how.agent.stdout == b"False\n" or hits & {"memory", "work", "pids"}
    assert how.agent.stdout != b"True\n"


@pytest.mark.attack
def test_what_a_command_may_share_is_no_matter_of_its_agent(any_kind: Kind, tmp_path: Path) -> None:
    """More than its agent may hold: whoever could end that as a fault of ours would be tried anew for nothing."""
    within, limits = json.dumps({"memory": 270 << 20}), replace(LIMITS, **BOUNDS)
    with pair(any_kind, tmp_path) as (opened, plan):
        how = begin(opened, plan, SCRIPT, "exhausts", "command", "memory", within, limits=limits).wait()
    assert how.agent.stdout == b"True\n"
    assert how.agent.limits_hit | how.task.limits_hit == frozenset()


@pytest.mark.attack
@pytest.mark.parametrize("way", ["holds", "drops", "unmaps"])
@pytest.mark.parametrize("own", [*BACKENDS, *UNCOUNTED])
def test_an_agent_that_shares_more_than_it_may_is_ended_for_it(own: Kind, tmp_path: Path, way: str) -> None:
    limits = replace(LIMITS, **BOUNDS)
    with pair(own, tmp_path) as (opened, plan):
        how = begin(opened, plan, SCRIPT, "hoards", way, str(1 << 30), "null", limits=limits).wait()
    assert b"held" not in how.agent.stdout
    assert (how.agent.limits_hit, how.task.limits_hit) == ({"memory"}, frozenset())


@pytest.mark.attack
@pytest.mark.parametrize(("shares", "hits"), [(270 << 20, frozenset()), (1 << 30, {"memory"})], ids=["may", "may not"])
@pytest.mark.parametrize("own", UNCOUNTED)
def test_no_agent_ends_as_a_fault_of_ours_by_what_its_commands_share(
    own: Kind, tmp_path: Path, shares: int, hits: frozenset[str]
) -> None:
    """It shares a page itself, so that all that the host shares may be its own."""
    within, limits = json.dumps({"memory": shares}), replace(LIMITS, **BOUNDS)
    with pair(own, tmp_path) as (opened, plan):
        how = begin(opened, plan, SCRIPT, "hoards", "holds", "0", within, limits=limits).wait()
    assert how.agent.limits_hit | how.task.limits_hit == hits
    assert hits or how.agent.stdout == b"true\n0\n"


@pytest.mark.attack
@pytest.mark.parametrize("name", EXHAUSTED, ids=" ".join)
def test_outside_there_is_more(tmp_path: Path, name: tuple[str, str]) -> None:
    aim = {**EXHAUSTED[name], "fill": [str(tmp_path)]}
    words = [sys.executable, "-I", str(SAMPLES / "exhausting.py"), name[1], json.dumps(aim)]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"true\n"


@pytest.mark.attack
def test_what_is_no_plain_file_does_not_leave(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        assert ended(opened, plan, SCRIPT, "links").agent.exit_code == 0
        found = place.collect(opened.task, ReceiptRule(files=10_000, bytes=1 << 20, depth=64))
        few = place.collect(opened.task, ReceiptRule(files=100, bytes=1 << 30, depth=64))
    kinds = {e.path: (e.kind, e.content[:20]) for e in found.entries}
    assert {"pipe", "socket"} >= set(found.left_out) - {"more"}
    assert kinds.get(b"absolute", ("link", b"/etc/passwd")) == ("link", b"/etc/passwd")
    assert all(k in {"file", "dir", "link"} for k, _ in kinds.values())
    assert sum(len(e.content) for e in found.entries) <= (1 << 20) + 1
    assert len(few.entries) <= 101
    assert "more" in few.left_out


def test_an_agent_without_a_model_is_told(kind: Kind, tmp_path: Path) -> None:
    with pair(kind, tmp_path) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "asks", json.dumps([["POST", "/v1/messages", "{}", {}]]))
    assert json.loads(how.agent.stdout) == [[502, "no gateway\n"]]
    assert how.unreached is not None
    assert 0 <= time.time() - how.unreached < 600


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Path]:
    """A listener that gives back what it gets; a test may end before anybody has come."""
    path = tmp_path / "echo"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=_give_back, args=(listener,), daemon=True)
        thread.start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(60)
    assert not thread.is_alive()


def _give_back(listener: socket.socket) -> None:
    with suppress(OSError), listener.accept()[0] as one:
        while part := one.recv(1 << 16):
            one.sendall(part)


def test_more_than_any_buffer_passes_both_ways(any_kind: Kind, tmp_path: Path, echo: Path) -> None:
    with pair(any_kind, tmp_path, gateway=echo) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "uploads", str(8 << 20))
    assert how.agent.stdout == b"%d b''\n" % (8 << 20)
    assert how.unreached is None
