"""Real programs to their verdict, from nothing: what they yield is what the repository says they yield."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programsmith.toolchains.packages import database_exists

HERE = Path(__file__).parent
PACKAGES = ("autoconf", "automake", "libtool", "libonig-dev")
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project of its own with the specs and their archives."""
    if not database_exists() or not shutil.which("apt-get"):
        pytest.skip("no apt-get here; run on a Debian system")
    subprocess.run([sys.executable, HERE / "get.py"], check=True)
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "sources", root / "tests/real/sources")
    (root / "specs").mkdir()
    for spec in HERE.glob("*.yaml"):
        shutil.copy(spec, root / "specs")
    return root


def build(project: Path, name: str) -> tuple[int, dict[str, Any]]:
    """Build one spec; its exit code and the evidence of its goldens."""
    command = [sys.executable, "-m", "programsmith", "build", f"spec=specs/{name}.yaml", "--yes"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    record = project / "cache" / name / "goldens.json"
    assert record.is_file(), done.stdout + done.stderr
    return done.returncode, json.loads(record.read_bytes())


def test_figlet_has_too_few_tests_of_its_own(project):
    code, goldens = build(project, "figlet")
    assert code == 1
    assert goldens["outcome"] == "too_thin"
    assert 0 < goldens["evidence"]["kept"] < 66


def test_jq_becomes_a_draft(project):
    missing = [p for p in PACKAGES if subprocess.run(["dpkg", "-s", p], capture_output=True).returncode]
    if missing:
        pytest.skip(f"packages are absent; run: apt-get install -y {' '.join(missing)}")
    code, goldens = build(project, "jq")
    verdict = json.loads((project / "cache/jq/verdict.json").read_bytes())
    assert (code, verdict["outcome"]) == (0, "draft"), verdict["reasons"]
    assert goldens["evidence"]["kept"] >= 200
    strength = json.loads((project / "cache/jq/r0/strength.json").read_bytes())
    assert strength["evidence"]["mutation_score"] >= 0.7
