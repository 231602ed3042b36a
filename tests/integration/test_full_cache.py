"""The real build over a cache without room, and over one that cannot be written: what it says, and how it goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.samples.rot_project import lay

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
sandbox: bubblewrap
"""
ROOMS = ("160k", "480k")
SCRIPT = """set -u
build() { "$PROGRAMSMITH" build spec=rot >"$1.out" 2>"$1.err" </dev/null; echo $? >"$1.code"; }
mount -t tmpfs -o "size=$1" none cache || exit 9
shift
build first
for room; do mount -o "remount,size=$room" cache; build "$room"; done
mount -o remount,size=64m cache
build roomy
echo "description: other words" >>specs/rot.yaml
mount -o remount,ro cache
build shut
mount -o remount,rw cache
build open
"""
ANSWERED = re.compile(r"^rot  (\S+) +\w+ +\d+\.\d s .*\[(.*)\]$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    code: int
    out: str
    err: str

    @property
    def ran(self) -> set[str]:
        """Tasks that were not taken from the store."""
        return {task for task, why in ANSWERED.findall(self.err) if "; from the store" not in why}


def _told(root: Path, name: str) -> Told:
    code, out, err = ((root / f"{name}.{end}").read_text() for end in ("code", "out", "err"))
    return Told(int(code), out, err)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """What each build told, by its name. The cache is a file system of a namespace of its own."""
    root = tmp_path_factory.mktemp("full")
    lay(root)
    (root / "specs" / "rot.yaml").write_text(SPEC)
    (root / "cache").mkdir()
    env = {**os.environ, "PROGRAMSMITH": str(Path(sys.executable).parent / "programsmith")}
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh", *ROOMS]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=900)
    if done.returncode == 9 or "unshare" in done.stderr:
        pytest.skip(f"needs a mount namespace: run as root ({done.stderr.strip()})")
    names = ("first", *ROOMS[1:], "roomy", "shut", "open")
    found = {name: _told(root, name) for name in names}
    assert not [name for name, one in found.items() if "Traceback" in one.err or "bug:" in one.err]
    return found


def test_a_build_that_meets_a_full_disk_is_infra_and_says_so(told: dict[str, Told]) -> None:
    full = [told["first"], *(told[room] for room in ROOMS[1:])]
    assert [one.code for one in full] == [2] * len(ROOMS)
    assert all(" full" in one.err for one in full)
    assert not any("draft" in one.out for one in full)
    assert full[-1].ran  # it was in the midst of its work


def test_with_room_it_goes_on_and_repeats_nothing(told: dict[str, Told]) -> None:
    assert told["roomy"].code == 0, told["roomy"].err
    assert told["roomy"].out.startswith("rot  draft  ")
    done = [told[name].ran for name in ("first", *ROOMS[1:])]
    assert not set().union(*done) & told["roomy"].ran


def test_a_cache_that_cannot_be_written_is_a_missing_prerequisite(told: dict[str, Told]) -> None:
    assert (told["shut"].code, told["shut"].out) == (3, "")
    assert "cache cannot be written (Read-only file system)" in told["shut"].err
    assert told["open"].code == 0, told["open"].err
