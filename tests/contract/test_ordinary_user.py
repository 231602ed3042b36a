"""The same contract as an ordinary user: root runs this suite once more as somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from programsmith.sandboxes.hostile import remove_tree

USER = 54321
SUITES = {  # how launches go there: all of it the fast way, the fences over bwrap as well
    "test_launcher.py": "compiled",
    "test_launcher_files.py": "compiled",
    "test_launcher_limits.py": "compiled",
    "test_launcher_isolation.py": "not python",
    "test_launcher_faults.py": "not python",
    "test_bwrap_faults.py": "not python",
    "test_compiled_faults.py": "compiled",
    "test_sandbox.py": "sandbox",
    "test_sandbox_places.py": "sandbox",
    "test_bridge.py": "bubblewrap and not over and not without",
    "test_bridge_attacks.py": "bubblewrap and not over and not without",
    "test_bridge_ends.py": "bubblewrap and not over and not without",
}

BECOME = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups")
PYTEST = ("-B", "-m", "pytest", "-q", "-p", "no:cacheprovider")


def _reachable(path: str) -> bool:
    words = [*BECOME, "test", "-r", path]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def _interpreter() -> str:
    """An interpreter of our version that others may execute; ours where that is possible."""
    names = (os.path.realpath(sys.executable), f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}")
    found = [name for name in names if _reachable(name)]
    if not found:
        pytest.skip(
            f"no interpreter that others reach: apt-get install -y python{sys.version_info[0]}.{sys.version_info[1]}"
        )
    return found[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite already runs as an ordinary user: run as root for both")
@pytest.mark.parametrize("suite", SUITES)
def test_the_contract_holds_without_root(suite: str) -> None:
    if not shutil.which("setpriv"):
        pytest.skip("becoming another user needs setpriv: apt-get install -y util-linux")
    checkout = Path(__file__).parents[2]
    tests = Path(__file__).parent / suite
    libraries = [p for p in sys.path if p.endswith("site-packages")]
    if not all(map(_reachable, (str(tests), *libraries))):
        pytest.skip("others cannot read this checkout or its libraries: put both where they can")
    home = Path(tempfile.mkdtemp())
    os.chown(home, USER, USER)
    try:
        words = [*BECOME, _interpreter(), *PYTEST, "-k", SUITES[suite], "--basetemp", f"{home}/t", str(tests)]
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join([str(checkout), *libraries])}
        done = subprocess.run(words, check=False, capture_output=True, env=env, cwd=checkout, timeout=300)
    finally:
        remove_tree(home)  # a failed suite may leave trees that nothing else removes
    assert done.returncode == 0, done.stdout[-4000:].decode() + done.stderr[-2000:].decode()
    assert b" passed" in done.stdout
