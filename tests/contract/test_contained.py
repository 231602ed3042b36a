"""The same contract in a container without namespaces: root runs the launchers' suite once more inside one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import contained

SUITES = ("test_launcher.py", "test_launcher_files.py", "test_launcher_limits.py", "test_launcher_isolation.py",
          "test_launcher_code.py", "test_uid.py")  # fmt: skip
SECONDS = 400


@pytest.mark.skipif(os.geteuid() != 0, reason="making a container takes root: run as root")
@pytest.mark.skipif(contained.is_inside(), reason="this is one")
@pytest.mark.parametrize("suite", SUITES)
def test_the_contract_holds_in_a_container(suite: str, tmp_path: Path) -> None:
    missing = [name for name in ("unshare", "mount", "bwrap") if not shutil.which(name)]
    if missing:
        pytest.skip(f"making a container takes {', '.join(missing)}: apt-get install -y util-linux mount bubblewrap")
    checkout = Path(__file__).parents[2]  # an installed package has no tests beside it
    libraries = {f"/library{n}": p for n, p in enumerate(p for p in sys.path if p.endswith("site-packages"))}
    shown = {contained.CHECKOUT: str(checkout), sys.base_prefix: sys.base_prefix, **libraries}
    pytest_words = [
        os.path.realpath(sys.executable),
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        "/private/t",
    ]
    words = contained.command(tmp_path, shown, [*pytest_words, f"tests/contract/{suite}"])
    path = os.pathsep.join([contained.CHECKOUT, *libraries])
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": "/private", "PYTHONPATH": path}
    done = subprocess.run(words, check=False, capture_output=True, env=env, cwd=checkout, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-6000:].decode() + done.stderr[-2000:].decode()
    assert b" passed" in done.stdout
