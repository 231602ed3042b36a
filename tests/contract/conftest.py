"""Launchers under contract: bwrap with the C init and with the Python init, over one view that holds Python and cat."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.launcher import Launcher, Mount, View
from programsmith.sandboxes.config import launcher_config, require_namespaces
from programsmith.sandboxes.view import list_view
from tests.contract.launches import INITS


@pytest.fixture(scope="session")
def view() -> View:
    require_namespaces()
    return list_view(programs=["python3", "cat"])


@pytest.fixture(scope="session", params=INITS)
def launcher(request: pytest.FixtureRequest, view: View) -> Iterator[Launcher]:
    if request.param == "c" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("the C init needs a C compiler: apt-get install -y gcc libc6-dev")
    opened = BwrapLauncher(launcher_config(view, request.param))
    yield opened
    opened.close()


@pytest.fixture
def tree(tmp_path: Path) -> Mount:
    """An empty tree to be shown at /opt/tree; tmp_path itself stays closed to others."""
    place = tmp_path / "tree"
    place.mkdir(mode=0o755)
    return Mount(source=str(place), target="/opt/tree")
