"""Launchers under contract, over one view with Python and cat.

Compiled, bwrap with the C init and with the Python init; inside a container (`contained`) those by user instead, in C
and in Python.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.payload.verifier.launcher import Launcher, Mount, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.payload.verifier.uid import UidLauncher
from programsmith.sandboxes.config import launcher_config, require_namespaces
from programsmith.sandboxes.view import list_view
from tests.contract import contained
from tests.contract.launches import WAYS


@pytest.fixture(scope="session")
def view() -> View:
    require_namespaces()
    return list_view(programs=["python3", "cat"])


@pytest.fixture(scope="session", params=WAYS)
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    if request.param in contained.WAYS:
        opened: Launcher = UidLauncher(contained.config(request.param))
    else:
        opened = bubblewrap(launcher_config(request.getfixturevalue("view"), request.param))
    yield opened
    opened.close()


@pytest.fixture
def open_folder(view: View) -> Iterator[Path]:
    """A folder that other users reach."""
    place = Path(view.mounts[0].source).parent.parent / f"test-{os.getpid()}"
    place.mkdir(mode=0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def tree(tmp_path: Path) -> Mount:
    """An empty tree to be shown at /opt/tree; tmp_path itself stays closed to others."""
    place = tmp_path / "tree"
    place.mkdir(mode=0o755)
    return Mount(source=str(place), target="/opt/tree")
