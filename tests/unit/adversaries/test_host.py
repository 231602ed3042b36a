"""What is seen from the host of an adversary: callers, processes that were left or ended, files that appeared."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from programsmith.adversaries import host as module
from programsmith.adversaries.host import host
from programsmith.adversaries.plants import HOSTILE, KINDS, plant
from programsmith.adversaries.registry import Plant


def test_callers_and_left_processes_are_noticed_and_ended(tmp_path):
    with host(tmp_path, b"answers") as outside:
        assert (outside.heard, outside.left()) == (0, ())
        with socket.create_connection(outside.address, timeout=5) as caller:
            caller.recv(9)
        command = ["/bin/sh", "-c", "read line", outside.token]
        daemon = subprocess.Popen(command, stdin=subprocess.PIPE)
        assert wait_for(outside.left) == (daemon.pid,)
    assert outside.heard == 1
    daemon.communicate()
    assert daemon.returncode == -signal.SIGKILL


def wait_for(what):
    """What it gives once it gives anything: a process shows its command line a moment after its start."""
    until = time.monotonic() + 10
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    return what()


def test_a_process_of_the_host_shows_the_answers_and_is_missed_when_it_ends(tmp_path):
    with host(tmp_path, b"env\ncase\n") as outside:
        pid = outside.victim()
        assert wait_for(lambda: Path(f"/proc/{pid}/cmdline").read_bytes()).endswith(b"-answers\nenv\ncase\n\0")
        assert not outside.is_hurt()
        assert outside.left() == ()  # it is the host's own
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert outside.is_hurt()


def test_files_that_appear_where_no_launch_may_write_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FOLDERS", (str(tmp_path),))
    (tmp_path / "meet").touch()
    with host(tmp_path, b"") as outside:
        (tmp_path / "reward.json").touch()
        assert outside.planted() == (str(tmp_path / "reward.json"),)


@pytest.mark.parametrize("kind", list(Plant))
def test_every_plant_lies_in_the_folder_and_goes_with_it(tmp_path, kind):
    answers = tmp_path / "answers"
    answers.write_bytes(b"answers")
    folder = tmp_path / "folder"
    folder.mkdir()
    plant([kind], folder, answers)
    found = os.listdir(os.fsencode(folder))
    assert found
    assert set(KINDS) == set(Plant)
    if kind is Plant.NAMES:
        assert set(found) == set(HOSTILE)
    if kind is Plant.SPARSE:
        assert (folder / "sparse").stat().st_blocks == 0
    if kind is Plant.HARD_LINK:
        assert (folder / "table.txt").samefile(answers)
