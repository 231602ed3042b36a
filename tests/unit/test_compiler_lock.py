from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.paths import Project
from programsmith.errors import InfraError, PrerequisiteError


def test_a_lock_is_held_once_and_given_back(tmp_path: Path) -> None:
    folder = Project(tmp_path).folder("tally")
    with held(folder):
        assert folder.lock.read_text() == f"{os.getpid()}\n"
        line = f"another build of tally is running, pid {os.getpid()}"
        with pytest.raises(InfraError, match=line), held(folder):
            pass
    with held(folder):
        pass


def test_each_spec_has_its_own_lock(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with held(project.folder("a")), held(project.folder("b")):
        pass


def test_a_writable_cache_is_a_premise(tmp_path: Path) -> None:
    check_premises(Project(tmp_path))
    assert (tmp_path / "cache").is_dir()


def test_a_cache_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(PrerequisiteError, match=r"cannot be written \(File exists\)"):
        check_premises(Project(tmp_path))


@pytest.mark.parametrize(("option", "line"), [("noexec", "mounted noexec"), ("ro", "Read-only file system")])
def test_a_mount_that_cannot_hold_a_cache_is_refused(tmp_path: Path, option: str, line: str) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", option, "none", str(cache)], capture_output=True)
    if made.returncode:
        pytest.skip("needs the right to mount: run as root")
    try:
        with pytest.raises(PrerequisiteError, match=line):
            check_premises(Project(tmp_path))
    finally:
        subprocess.run(["umount", str(cache)], check=True)
