"""What a killed process leaves where several write: the next one removes it, and nothing of one that lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.sandboxes import scratch as module
from programsmith.sandboxes.owners import boot, is_orphan, lives, mark, place, prefix
from programsmith.sandboxes.scratch import reap_scratch, scratch

HOLDS = """
import sys, time
from programsmith.sandboxes.scratch import scratch
with scratch("test") as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to("/etc")
    (folder / "deep").chmod(0)
    print(folder, flush=True)
    sys.stdin.read()
"""
STAGES = """
import sys
from programsmith.sandboxes import shared
def build(stage):
    (stage / "half").write_text("made")
    print(stage, flush=True)
    sys.stdin.read()
shared.publish("whole", build)
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folder of temporary files and the shared root, for this process and those that it starts."""
    found = tmp_path / "temporary", tmp_path / "shared"
    for folder in found:
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found[0]))
    monkeypatch.setattr(module, "shared_root", lambda: found[1])
    return found


@pytest.fixture
def started(places: tuple[Path, Path]) -> Iterator[list[subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


def start(started: list[subprocess.Popen[str]], places: tuple[Path, Path], code: str) -> Path:
    """Start a process; the folder that it made."""
    there = "from programsmith.sandboxes import shared, scratch\nfrom pathlib import Path\n"
    there += f"shared.shared_root = lambda: Path({str(places[1])!r})\n"
    process = subprocess.Popen(
        [sys.executable, "-c", there + code],
        env={**os.environ, "TMPDIR": str(places[0])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    started.append(process)
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


@pytest.mark.parametrize("code", [HOLDS, STAGES], ids=["scratch", "stage of the shared root"])
def test_what_a_living_process_holds_stays_until_it_was_killed(
    places: tuple[Path, Path], started: list[subprocess.Popen[str]], code: str
) -> None:
    folder = start(started, places, code)
    assert folder.parent in places
    reap_scratch()
    assert folder.is_dir()
    started[0].send_signal(signal.SIGKILL)
    started[0].wait()
    reap_scratch()
    assert not folder.exists()
    assert Path("/etc/passwd").exists()


def test_a_folder_ends_with_its_context(places: tuple[Path, Path]) -> None:
    with scratch("test") as folder:
        (folder / "x").write_text("x")
        assert not is_orphan(folder.name)
    assert list(places[0].iterdir()) == []


def test_what_bears_no_mark_or_that_of_another_place_stays(places: tuple[Path, Path]) -> None:
    dead = f"{boot()[:8]}-{2**22 + 1}-1-x"
    names = ["something", "programsmith.log", f"programsmith-test-{'0' * 8}{dead}", ".part-abc"]
    for name in (*names, f"programsmith-test-{place()[:8]}{dead}", f".programsmith-part-{place()[:8]}{dead}"):
        (places[0] / name).write_text("x")
    reap_scratch()
    assert sorted(path.name for path in places[0].iterdir()) == sorted(names)


def test_a_number_that_came_again_is_no_owner() -> None:
    of, pid, start = mark().split(":")
    assert lives(mark())
    assert not lives(f"{of}:{pid}:{int(start) + 1}")
    assert not lives(f"{'0' * 36}:{pid}:{start}")
    assert is_orphan(prefix("test").replace(f"-{start}-", f"-{int(start) + 1}-") + "x")
    assert is_orphan(prefix("test").replace(boot()[:8], "0" * 8) + "x")
    assert len(prefix("test")) < 64


def test_a_fork_names_what_it_makes_by_itself() -> None:
    assert not is_orphan(prefix("test"))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, prefix("test").encode())
        os._exit(0)
    os.waitpid(child, 0)
    name = os.read(reading, 4096).decode()
    for end in (reading, writing):
        os.close(end)
    assert f"-{child}-" in name
    assert is_orphan(name)
    assert not is_orphan(prefix("test"))
