"""Control groups of version 2 on a kernel that has them, whatever this host has: one that runs as a process of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = "linux.uml"
INIT = """#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 groups /sys/fs/cgroup && cd {checkout} &&
HOME=/tmp timeout 400 {python} -B -m pytest -q --color=no -p no:cacheprovider tests/contract/test_groups.py
poweroff -f
"""


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes groups: run as root")
def test_version_2_holds_on_a_kernel_whose_root_nobody_manages(tmp_path: Path) -> None:
    if not shutil.which(KERNEL):
        pytest.skip(f"no {KERNEL}: apt-get install -y user-mode-linux")
    init = tmp_path / "init"
    init.write_text(INIT.format(checkout=Path(__file__).parents[2], python=sys.executable))
    init.chmod(0o755)
    words = [KERNEL, "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "mem=1024M", f"init={init}",
             "con=null", "con0=null,fd:1", "quiet"]  # fmt: skip
    env = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, stdin=-3, capture_output=True, text=True, errors="replace", timeout=600, env=env)
    ended = re.findall(r"^(?:\d+ \w+, )*\d+ \w+ in .*$", done.stdout, re.MULTILINE)
    assert ended, done.stdout + done.stderr
    assert re.fullmatch(r"\d+ passed in .*", ended[-1].strip()), done.stdout
