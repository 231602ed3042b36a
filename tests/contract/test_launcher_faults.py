"""A broken sandbox proves nothing: whatever breaks is a fault, never an exit code that a golden could have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.sandboxes.config import launcher_config
from tests.contract.launches import WAYS, case, launched, proves_nothing


@pytest.fixture(params=WAYS)
def config(request: pytest.FixtureRequest, view: View) -> dict[str, Any]:
    return launcher_config(view, request.param)


NO_PLACE = "/usr/lib/x"  # in a view that nobody writes to


def test_a_missing_bind_is_a_fault(config: dict[str, Any], tree: Mount) -> None:
    proves_nothing(launched(config, mounts=(Mount(source=f"{tree.source}/gone", target="/opt/x"),)))
    proves_nothing(launched(config, mounts=(Mount(source=tree.source, target=NO_PLACE),)))
    broken = {**config["view"], "mounts": [*config["view"]["mounts"], ["/no/such/place", "/opt/y"]]}
    proves_nothing(launched({**config, "view": broken}))


def test_a_fault_of_one_launch_is_none_of_the_next(config: dict[str, Any], tree: Mount) -> None:
    launcher = bubblewrap(config)
    try:
        for source, target in ((f"{tree.source}/gone", "/opt/x"), (tree.source, NO_PLACE)):
            proves_nothing(launcher.run(case("pass", mounts=(Mount(source=source, target=target),))))
            assert launcher.run(case("print(1)")).stdout == b"1\n"
    finally:
        launcher.close()


def test_a_tree_that_others_cannot_read_is_refused_by_name(config: dict[str, Any], tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("an ordinary user shows its own trees: run as root")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    result = launched(config, mounts=(Mount(source=str(closed), target="/opt/x"),))
    proves_nothing(result)
    assert "chmod a+rX" in str(result.fault)


def test_closing_removes_the_control_groups(config: dict[str, Any]) -> None:
    def groups() -> set[Path]:
        found = (
            Path(at) / name for at, folders, _ in os.walk("/sys/fs/cgroup") for name in folders
        )  # others come and go
        return {path for path in found if path.name.startswith(f"programsmith-{os.getpid()}-")}

    before = groups()
    launcher = bubblewrap(config)
    launcher.run(case("pass"))
    launcher.probe()
    if os.geteuid() == 0 and "memory" in launcher.probe():
        assert groups() > before
    launcher.close()
    assert groups() == before
