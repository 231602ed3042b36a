"""What can break between the grader and an init that bwrap starts: each is a fault, never an exit code."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.verifier import seccomp
from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.launcher import LauncherError, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.sandboxes.config import launcher_config
from programsmith.sandboxes.view import list_view
from tests.contract.launches import EXITS, OVER_BWRAP, below, case, killed, launched, proves_nothing, script


@pytest.fixture(params=OVER_BWRAP)
def config(request: pytest.FixtureRequest, view: View) -> dict[str, Any]:
    return launcher_config(view, request.param)


@pytest.mark.parametrize("code", EXITS)
def test_a_bwrap_that_only_exits_is_a_fault(config: dict[str, Any], open_folder: Path, code: int) -> None:
    proves_nothing(launched({**config, "bwrap": script(open_folder / "bwrap", f"exit {code}\n")}))


@pytest.mark.parametrize("code", EXITS)
def test_an_init_that_only_exits_is_a_fault(config: dict[str, Any], view: View, open_folder: Path, code: int) -> None:
    folder = open_folder / "init"
    folder.mkdir(mode=0o755)
    (folder / "init.py").write_text(f"import os; os._exit({code})")
    init = {**config["init"], "folder": str(folder), "argv": ["/usr/bin/python3", "-I", "/run/init/init.py"]}
    proves_nothing(launched({**config, "init": init}))


def test_a_missing_program_of_ours_is_a_fault(config: dict[str, Any]) -> None:
    proves_nothing(launched({**config, "bwrap": "/no/such/bwrap"}))
    proves_nothing(launched({**config, "init": {**config["init"], "folder": "/no/such/folder"}}))
    proves_nothing(launched({**config, "init": {**config["init"], "argv": ["/run/init/absent"]}}))


def test_a_refused_clone_is_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    bwrap = script(open_folder / "bwrap", f'exec prlimit --nproc=1:1 {config["bwrap"]} "$@"\n')
    if os.geteuid():
        pytest.skip("an ordinary user has other processes: run as root, whose launches get a user of their own")
    proves_nothing(launched({**config, "bwrap": bwrap}))


def test_refused_namespaces_are_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    bwrap = script(open_folder / "bwrap", 'echo "bwrap: No permissions to create new namespace" >&2; exit 1\n')
    result = launched({**config, "bwrap": bwrap})
    proves_nothing(result)
    assert "No permissions" in str(result.fault)


@pytest.mark.parametrize("victim", ["bwrap", "init"])
def test_a_launch_killed_from_outside_is_a_fault(config: dict[str, Any], victim: str) -> None:
    word = config["bwrap"] if victim == "bwrap" else config["init"]["argv"][0]
    proves_nothing(killed(config, lambda: below(word)))


def test_probe_refuses_a_launcher_that_does_not_isolate(
    config: dict[str, Any], open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "CASE_FAMILIES", seccomp.FAMILIES)  # two fences stand before a network
    bwrap = script(
        open_folder / "bwrap",
        f'for a do shift; [ "$a" = --unshare-net ] || set -- "$@" "$a"; done\nexec {config["bwrap"]} "$@"\n',
    )
    launcher = BwrapLauncher({**config, "bwrap": bwrap, "cgroup": False})  # with a group, a slot has the network
    try:
        with pytest.raises(LauncherError, match="reaches a network"):
            launcher.probe()
    finally:
        launcher.close()


def test_without_groups_what_a_launch_left_is_read_though_bwrap_holds_its_streams(config: dict[str, Any]) -> None:
    more_than_a_pipe_takes = 300_000
    launcher = BwrapLauncher({**config, "cgroup": False})
    try:
        result = launcher.run(case(f"open('much', 'wb').write(bytes({more_than_a_pipe_takes}))"))
    finally:
        launcher.close()
    assert (result.fault, result.limits_hit) == (None, frozenset())
    assert [len(e.content) for e in result.files or ()] == [more_than_a_pipe_takes]


@pytest.mark.parametrize("programs", [["python3", "cat"], ["cat"]])
def test_isolation_is_proven_in_the_view_of_the_cases_where_that_starts_python(programs: list[str]) -> None:
    config = launcher_config(list_view(programs=programs))
    proven_in = {tuple(mount) for mount in config["probe"]["view"]["mounts"]}
    own = {tuple(mount) for mount in config["view"]["mounts"]}
    assert (proven_in == own) == ("python3" in programs)
    with contextlib.closing(bubblewrap(config)) as launcher:
        assert launcher.probe()
