"""Another platform than Linux is wrong input of every command: one line, exit code 3, nothing written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "samples" / "elsewhere.py"
LINE = (
    "error: this machine runs {}; programs are isolated with Linux namespaces: use Linux, a virtual machine will do\n"
)


@pytest.mark.parametrize(
    "words",
    [
        ("darwin", "programsmith", "build", "spec=toy"),
        ("darwin", "doit", "build", "spec=toy"),
        ("freebsd14", "programsmith", "list"),
        ("darwin", "doit", "plan"),
    ],
)
def test_every_command_is_refused_by_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "specs" / "toy.yaml").write_text("version: 1\nname: toy\nsource: {path: mine}\n")
    done = subprocess.run(
        [sys.executable, str(SAMPLE), *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "", LINE.format(words[0]))
    assert not (tmp_path / "cache").exists()


def test_linux_is_none_of_them(tmp_path: Path) -> None:
    command = [sys.executable, str(SAMPLE), "linux", "programsmith", "version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
