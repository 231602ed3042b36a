"""Processes of a killed run: those of its session, and those that left it, are ended by the next start."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.compiler.leftovers import reap, reap_shared, recorded
from programsmith.compiler.paths import Folder, Project
from programsmith.sandboxes.owners import began

RUN = """
import os, subprocess, sys
from pathlib import Path
from programsmith.compiler.leftovers import recorded
from programsmith.compiler.paths import Project
os.setsid()
with recorded(Project(Path(sys.argv[1])).folder("toy")):
    inside = subprocess.Popen(["/bin/sleep", "300"], stdout=2)
    apart = subprocess.Popen(["/bin/sleep", "300"], stdout=2, start_new_session=True)
    print(inside.pid, apart.pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Project(tmp_path).folder("toy")


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_the_next_start_ends_what_a_killed_run_left(folder: Folder, bystander: subprocess.Popen[bytes]) -> None:
    command = [sys.executable, "-c", RUN, str(folder.project.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        left = [int(word) for word in run.stdout.readline().split()]
        run.send_signal(signal.SIGKILL)
    try:
        assert len(left) == 2
        assert all(began(pid) for pid in left)
        reap(folder)
        assert not any(began(pid) for pid in left)
        assert not folder.run.exists()
        assert began(bystander.pid)
    finally:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_run_that_came_to_its_end_leaves_no_record(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROGRAMSMITH_RUN", raising=False)
    with recorded(folder):
        assert folder.run.exists()
    assert not folder.run.exists()
    monkeypatch.delenv("PROGRAMSMITH_RUN")


GROUPS = """
import sys
from programsmith.payload.verifier.cgroup import open_pool
pool = open_pool()
print(*(pool.group(0).entrances if pool else ["none"]), flush=True)
sys.stdin.read()
"""


def test_control_groups_of_a_killed_run_go_with_the_next_start() -> None:
    with subprocess.Popen([sys.executable, "-c", GROUPS], stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout is not None
        entrances = holder.stdout.readline().split()
        folders = [Path(entrance).parent for entrance in entrances]
        if entrances == ["none"]:
            holder.kill()
            pytest.skip("no control groups can be made here; run as root, or in a group that is handed down")
        reap_shared()
        there = [folder.is_dir() for folder in folders]
        holder.kill()
    assert all(there)
    reap_shared()
    assert [folder for folder in folders if folder.is_dir()] == []
