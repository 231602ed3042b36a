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
pytestmark = [pytest.mark.real, pytest.mark.timeout(3000)]  # half of a slow machine with two cores measures for long


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project of its own with the specs and their archives."""
    if not database_exists() or not shutil.which("apt-get"):
        pytest.skip("no apt-get here; run on a Debian system")
    got = subprocess.run([sys.executable, HERE / "get.py"], capture_output=True, text=True)
    if got.returncode:
        why = (got.stderr or got.stdout).strip().splitlines()[-1:]
        pytest.skip(f"no source archives ({''.join(why)}); run: python tests/real/get.py MIRROR")
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "sources", root / "tests/real/sources")
    (root / "specs").mkdir()
    for spec in HERE.glob("*.yaml"):
        shutil.copy(spec, root / "specs")
    return root


def build(project: Path, name: str) -> tuple[int, dict[str, Any]]:
    """Build one spec; its exit code and what it yields, as the verb `yield` writes it."""
    run = [sys.executable, "-m", "programsmith"]
    done = subprocess.run(
        [*run, "build", f"spec=specs/{name}.yaml", "--yes"], cwd=project, capture_output=True, text=True
    )
    subprocess.run([*run, "yield", f"spec={name}"], cwd=project, check=True, capture_output=True)
    return done.returncode, json.loads((project / f"docs/yield/{name}.json").read_bytes())


def committed(name: str) -> dict[str, Any]:
    """What the repository says that a spec yields."""
    return json.loads((HERE.parents[1] / f"docs/yield/{name}.json").read_bytes())


@pytest.mark.parametrize(("name", "code", "outcome"), [("figlet", 1, "reject"), ("jq", 0, "draft")])
def test_a_real_program_yields_what_the_repository_says(project, name, code, outcome):
    missing = [p for p in PACKAGES if subprocess.run(["dpkg", "-s", p], capture_output=True).returncode]
    if missing:
        pytest.skip(f"packages are absent; run: apt-get install -y {' '.join(missing)}")
    ended, made = build(project, name)
    assert (ended, made["outcome"]) == (code, outcome), made["reasons"]
    assert made["counts"] == committed(name)["counts"]
    assert made["tree"] == committed(name)["tree"]


def test_what_the_repository_says_of_jq_and_figlet_holds_the_bars():
    jq, figlet = committed("jq"), committed("figlet")
    assert jq["kept"] >= 200
    assert jq["strength"]["mutation_score"] >= 0.7
    assert 0 < figlet["kept"] < 66
