"""A broken sandbox proves nothing: whatever breaks is a fault, never an exit code that a golden could have."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.launcher import LauncherError, Mount, Result, View
from programsmith.sandboxes.config import launcher_config
from tests.contract.launches import INITS, case

EXITS = (0, 1, 126, 127)


@pytest.fixture(params=INITS)
def config(request: pytest.FixtureRequest, view: View) -> dict[str, Any]:
    return launcher_config(view, request.param)


def run(config: dict[str, Any], code: str = "pass", **changes: Any) -> Result:
    launcher = BwrapLauncher(config)
    try:
        return launcher.run(case(code, **changes))
    finally:
        launcher.close()


def proves_nothing(result: Result) -> None:
    assert result.fault
    assert (result.started, result.exit_code, result.signal, result.files) == (False, None, None, None)


def script(place: Path, text: str) -> str:
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n" + text)
    place.chmod(0o755)
    return str(place)


@pytest.fixture
def open_folder(view: View) -> Any:
    """A folder that other users reach."""
    place = Path(view.mounts[0].source).parent.parent / f"test-{os.getpid()}"
    place.mkdir(mode=0o755)
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("code", EXITS)
def test_a_bwrap_that_only_exits_is_a_fault(config: dict[str, Any], open_folder: Path, code: int) -> None:
    proves_nothing(run({**config, "bwrap": script(open_folder / "bwrap", f"exit {code}\n")}))


@pytest.mark.parametrize("code", EXITS)
def test_an_init_that_only_exits_is_a_fault(config: dict[str, Any], view: View, open_folder: Path, code: int) -> None:
    folder = open_folder / "init"
    folder.mkdir(mode=0o755)
    (folder / "init.py").write_text(f"import os; os._exit({code})")
    init = {**config["init"], "folder": str(folder), "argv": ["/usr/bin/python3", "-I", "/run/init/init.py"]}
    proves_nothing(run({**config, "init": init}))


def test_a_missing_bind_is_a_fault(config: dict[str, Any], tmp_path: Path) -> None:
    proves_nothing(run(config, mounts=(Mount(source=str(tmp_path / "gone"), target="/opt/x"),)))
    broken = {**config["view"], "mounts": [*config["view"]["mounts"], ["/no/such/place", "/opt/y"]]}
    proves_nothing(run({**config, "view": broken}))


def test_a_tree_that_others_cannot_read_is_refused_by_name(config: dict[str, Any], tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("an ordinary user shows its own trees: run as root")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    result = run(config, mounts=(Mount(source=str(closed), target="/opt/x"),))
    proves_nothing(result)
    assert "chmod a+rX" in str(result.fault)


def test_a_missing_program_of_ours_is_a_fault(config: dict[str, Any]) -> None:
    proves_nothing(run({**config, "bwrap": "/no/such/bwrap"}))
    proves_nothing(run({**config, "init": {**config["init"], "folder": "/no/such/folder"}}))
    proves_nothing(run({**config, "init": {**config["init"], "argv": ["/run/init/absent"]}}))


def test_a_refused_clone_is_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    bwrap = script(open_folder / "bwrap", f'exec prlimit --nproc=1:1 {config["bwrap"]} "$@"\n')
    if os.geteuid():
        pytest.skip("an ordinary user has other processes: run as root, whose launches get a user of their own")
    proves_nothing(run({**config, "bwrap": bwrap}))


def test_refused_namespaces_are_a_fault(config: dict[str, Any], open_folder: Path) -> None:
    bwrap = script(open_folder / "bwrap", 'echo "bwrap: No permissions to create new namespace" >&2; exit 1\n')
    result = run({**config, "bwrap": bwrap})
    proves_nothing(result)
    assert "No permissions" in str(result.fault)


@pytest.mark.parametrize("victim", ["bwrap", "init"])
def test_a_launch_killed_from_outside_is_a_fault(config: dict[str, Any], victim: str) -> None:
    results: list[Result] = []
    worker = threading.Thread(target=lambda: results.append(run(config, "import time; time.sleep(20)")))
    worker.start()
    deadline = time.monotonic() + 15
    while worker.is_alive() and time.monotonic() < deadline:
        time.sleep(0.3)
        for pid in _ours(config, victim):
            os.kill(pid, signal.SIGKILL)
    worker.join()
    proves_nothing(results[0])


def _ours(config: dict[str, Any], victim: str) -> list[int]:
    """Processes below this one whose first word is bwrap's path, or the init's."""
    word = config["bwrap"] if victim == "bwrap" else config["init"]["argv"][0]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().split(b"\0")[0] == os.fsencode(word) and _is_below(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def _is_below(pid: int) -> bool:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid == os.getpid():
            return True
    return False


def test_probe_refuses_a_launcher_that_does_not_isolate(config: dict[str, Any], open_folder: Path) -> None:
    bwrap = script(
        open_folder / "bwrap",
        f'for a do shift; [ "$a" = --unshare-net ] || set -- "$@" "$a"; done\nexec {config["bwrap"]} "$@"\n',
    )
    launcher = BwrapLauncher({**config, "bwrap": bwrap})
    try:
        with pytest.raises(LauncherError, match="reaches a network"):
            launcher.probe()
    finally:
        launcher.close()


def test_closing_removes_the_control_groups(config: dict[str, Any]) -> None:
    def groups() -> set[Path]:
        return set(Path("/sys/fs/cgroup").glob(f"**/programsmith-{os.getpid()}-*"))

    before = groups()
    launcher = BwrapLauncher(config)
    launcher.run(case("pass"))
    launcher.probe()
    if os.geteuid() == 0 and "memory" in launcher.probe():
        assert groups() > before
    launcher.close()
    assert groups() == before
