"""The real pipeline on a tiny program: each block uses all that its row declares, and reruns for nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from programsmith.compiler.plan import STEPS
from tests.samples.rot_project import lay

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [c], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
"""
ROOT = Path(__file__).parents[2]
UNREAD = "declared and not read"
ALWAYS = [step.block for step in STEPS if not step.when and not step.revises]
FROM_GOLDENS = ALWAYS[ALWAYS.index("goldens") :]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in Python to be re-implemented in C, so that no block can do without what it declares."""
    root = tmp_path_factory.mktemp("slices")
    lay(root)
    (root / "specs" / "rot.yaml").write_text(SPEC)
    return root


def build(project: Path) -> list[str]:
    """Build; the blocks whose record was written, in the plan's order."""
    before = times(project)
    words = [sys.executable, "-m", "programsmith", "build", "spec=rot"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["rot", "draft"]), done.stderr
    after = times(project)
    return [block for block in ALWAYS if before.get(block) != after[block]]


def times(project: Path) -> dict[str, int]:
    """Block to the time of its record."""
    places = [project / "cache" / "rot", project / "cache" / "rot" / "r0"]
    found = [place / f"{block}.json" for place in places for block in ALWAYS]
    return {path.stem: path.stat().st_mtime_ns for path in found if path.exists()}


def test_blocks_use_what_they_declare_and_rerun_for_nothing_else(project: Path) -> None:
    assert build(project) == ALWAYS
    logs = {path.name: path.read_text() for path in (project / "cache" / "rot" / "logs").iterdir()}
    assert len(logs) >= len(ALWAYS)
    unread = {name: line for name, text in logs.items() for line in text.splitlines() if UNREAD in line}
    assert unread == {"r0.create.log": f"{UNREAD}: build"}  # read where target = source: test_pipeline holds it to that

    spec = project / "specs" / "rot.yaml"
    spec.write_text("# said otherwise\n" + SPEC.replace("{path: rot}", '\n  path:   "rot"'))
    assert build(project) == []

    checks = yaml.safe_load((ROOT / "rules" / "checks.yaml").read_text())
    next(c for c in checks["checks"] if c["id"] == "oracle_bytes")["parameters"]["answer_bytes"] += 1
    (project / "rules" / "checks.yaml").write_text(yaml.safe_dump(checks))
    assert build(project) == ["static", "gate", "export"]

    spec.write_text(SPEC.replace("held_out: 8", "held_out: 7"))
    assert build(project) == FROM_GOLDENS
