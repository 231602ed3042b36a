"""What can break between the grader and a launch server: each is a fault, and the next launch has a new server."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.verifier.compiled import CompiledLauncher
from programsmith.payload.verifier.launcher import View
from programsmith.sandboxes.config import launcher_config
from tests.contract.launches import EXITS, below, case, ended, killed, launched, proves_nothing, script, until

SERVERS = Path(__file__).parent / "servers"


@pytest.fixture
def config(view: View) -> dict[str, Any]:
    return launcher_config(view, "compiled")


@pytest.mark.parametrize("code", EXITS)
def test_a_server_that_only_exits_is_a_fault(config: dict[str, Any], open_folder: Path, code: int) -> None:
    result = launched({**config, "server": script(open_folder / "server", f"exit {code}\n")})
    proves_nothing(result)
    assert "without a word" in str(result.fault)


@pytest.mark.parametrize("lie", ["dead_at_once", "half_a_status", "end_without_start", "broken_record", "gone_at_once"])
def test_a_server_that_launches_nothing_is_a_fault(config: dict[str, Any], open_folder: Path, lie: str) -> None:
    server = script(open_folder / "server", f'exec python3 {SERVERS / "lies.py"} {lie} "$@"\n')
    proves_nothing(launched({**config, "server": server}))


def test_a_missing_server_is_a_fault(config: dict[str, Any]) -> None:
    proves_nothing(launched({**config, "server": "/no/such/server"}))


def test_a_refused_clone_is_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    if os.geteuid():
        pytest.skip("an ordinary user has other processes: run as root, whose launches get a user of their own")
    server = script(open_folder / "server", f'exec prlimit --nproc=1:1 {config["server"]} "$@"\n')
    result = launched({**config, "server": server})
    proves_nothing(result)
    assert "fork" in str(result.fault)


def test_refused_namespaces_are_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    server = script(open_folder / "server", f'exec setpriv --bounding-set=-all {config["server"]} "$@"\n')
    if os.geteuid():
        server = script(open_folder / "server", f'exec unshare -r prlimit --nofile=3 {config["server"]} "$@"\n')
    proves_nothing(launched({**config, "server": server}))


@pytest.mark.parametrize("victim", [0, 1], ids=["server", "first process"])
def test_a_launch_killed_from_outside_is_a_fault(config: dict[str, Any], victim: int) -> None:
    proves_nothing(killed(config, lambda: below(config["server"])[victim : victim + 1]))


def test_a_dead_server_is_replaced(config: dict[str, Any]) -> None:
    launcher = CompiledLauncher(config)
    try:
        for _ in range(2):
            assert ended(launcher.run(case("print(1)"))) == b"1\n"
            os.kill(below(config["server"])[0], signal.SIGKILL)
            until(lambda: not below(config["server"]))
    finally:
        launcher.close()


def test_what_is_started_ahead_serves_the_launches(config: dict[str, Any]) -> None:
    launcher = CompiledLauncher(config)
    try:
        launcher.prepare(2)
        until(lambda: len(below(config["server"])) == 2)  # each bears another name until it has begun
        ahead = below(config["server"])
        assert ended(launcher.run(case("print(1)"))) == b"1\n"
        assert set(ahead) <= set(below(config["server"]))
    finally:
        launcher.close()
    assert below(config["server"]) == []


@pytest.mark.parametrize("server", ["/no/such/server", "/bin/false"])
def test_a_fault_of_what_is_started_ahead_is_told_by_the_launch(config: dict[str, Any], server: str) -> None:
    launcher = CompiledLauncher({**config, "server": server})
    try:
        launcher.prepare(2)
        proves_nothing(launcher.run(case("pass")))
    finally:
        launcher.close()
