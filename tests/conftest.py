"""Seconds of each group of tests, at the end of a run: by marker where a test has one of ours, else by folder."""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GROUPS = ("real", "docker", "harbor", "agents", "attack", "adversary", "browser", "soak")
SOAK_SECONDS = 4 * 3600
SECONDS: Counter[str] = Counter()


@pytest.fixture(autouse=True, scope="session")
def own_configuration() -> Iterator[None]:
    """Keys that builds make on first use belong to the test run, never to the user."""
    with tempfile.TemporaryDirectory(prefix="programsmith.") as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        yield
        del os.environ["XDG_CONFIG_HOME"]


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """A shell starts what it puts into the background deaf to SIGINT, and every child would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marked = [name for name in GROUPS if item.get_closest_marker(name)]
        item.user_properties.append(("group", marked[0] if marked else _folder(item.path)))
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(SOAK_SECONDS))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file share what they have made, so they stay together; in order: the longest files come early."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


def _folder(path: Path) -> str:
    below = path.relative_to(Path(__file__).parent).parts
    return below[0] if len(below) > 1 else "shape"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SECONDS[str(dict(report.user_properties)["group"])] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for group, seconds in sorted(SECONDS.items()):
        terminalreporter.write_line(f"{group:<12} {seconds:7.1f} s")
