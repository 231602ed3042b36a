"""Processes of a killed run: those of its session, and those that left it, are ended by the next start."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.compiler.leftovers import MARK, reap, reap_shared, recorded
from programsmith.compiler.paths import Folder, Project
from programsmith.errors import InfraError
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
    assert "PROGRAMSMITH_RUN" not in os.environ
    assert tempfile.gettempprefix() == "tmp"


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_threads_make_after_an_interrupt_still_tells_whose_it_is(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    """Blocks run on in threads until the process is gone, and what they make then is reaped by the next start."""
    monkeypatch.setenv(MARK, "")
    monkeypatch.setattr(tempfile, "template", tempfile.template)
    run = recorded(folder)
    run.__enter__()
    inside = tempfile.gettempprefix(), os.environ[MARK]
    assert not run.__exit__(end, end(), None)
    assert (tempfile.gettempprefix(), os.environ[MARK]) == inside
    assert inside[0].startswith("programsmith-")
    assert inside[1]
    assert folder.run.exists()


def test_a_run_that_ends_in_a_fault_leaves_no_record_and_nothing_half_made(folder: Folder) -> None:
    def broken() -> None:
        (folder.root / "lock.json.part").write_text("{")
        folder.scratch.mkdir()
        raise InfraError("off")

    with pytest.raises(InfraError), recorded(folder):
        broken()
    assert list(folder.root.iterdir()) == []


def test_what_an_export_left_half_made_goes_with_the_next_start(folder: Folder) -> None:
    dist = folder.project.dist
    half = ["toy.part", "toy.former", "toy.tar.part", "easy/toy.tar.part", ".dataset.toml.part"]
    half += [f"with-base/toy{end}" for end in (".part", ".former", ".tar.part")]
    others = ["toy.tar", "other.tar.part", "with-base/other.part", "easy/toy.tar"]
    for name in (*half, *others):
        (dist / name).parent.mkdir(parents=True, exist_ok=True)
        (dist / name).write_text("")
    (dist / "drafts" / "toy.tar.part").mkdir(parents=True)  # the task of a spec called toy.tar, which is being built
    folder.root.mkdir(parents=True)
    folder.run.write_text("")
    reap(folder)
    there = {str(path.relative_to(dist)) for path in dist.rglob("*.*")}
    assert there == {*others, "drafts/toy.tar.part", ".dataset.toml.lock"}


TEMPORARY = """
import sys, tempfile
from pathlib import Path
from programsmith.checks.listeners import listening
from programsmith.compiler.leftovers import recorded
from programsmith.compiler.paths import Project
with recorded(Project(Path(sys.argv[1])).folder("toy")), tempfile.NamedTemporaryFile() as file, listening() as host:
    print(file.name, host.path, flush=True)
    sys.stdin.read()
"""


def test_temporary_things_of_a_killed_run_go_with_the_next_start(folder: Folder) -> None:
    command = [sys.executable, "-c", TEMPORARY, str(folder.project.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        left = [Path(word) for word in run.stdout.readline().split()]
        reap_shared()
        there = [path.exists() for path in left]
        run.send_signal(signal.SIGKILL)
    assert there == [True, True]
    reap_shared()
    assert [path for path in (left[0], left[1].parent) if os.path.lexists(path)] == []


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
