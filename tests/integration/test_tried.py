"""The real pipeline with trials on a tiny program: what edits reuse, what they measure anew, and what does not ship."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples.rot_project import ROOT, lay, lay_solvers, rule

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
budget: {agent_wall: 1m}
rollouts: [{agent: scripted, script: solvers/solver.py, trials: 6}]
difficulty: [{basis: rollouts, pass_rate: {min: 0.1, max: 0.9}, confidence: 0.75, trials_max: 6}]
probe: {adversaries: [stale_executable, reward_from_run]}
revisions: {max: 0}
"""
TRIAL, GRADE = "r0:b0:trial:scripted:solver:", "r0:b0:grade:scripted:solver:"
EMPTIED = "    reading.entries = [e for e in reading.entries if not _is_at_or_below(e, output)]\n"


class Tried:
    """The project; `build` returns the task names that answered and keeps the rest of the answer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = ROOT
        self.said = ""

    def build(self) -> set[str]:
        words = [sys.executable, "-m", "programsmith", "build", "spec=rot", "-n", "2"]
        env = {**os.environ, "PYTHONPATH": str(self.package)}
        done = subprocess.run(words, cwd=self.root, env=env, capture_output=True, text=True, timeout=900)
        self.said = done.stderr
        self.answer = (done.returncode, *done.stdout.split()[1:2])
        lines = [line.split() for line in done.stderr.splitlines() if line.startswith("rot ")]
        return {words[1] for words in lines if not " ".join(words).endswith("from the store]")}

    def restored(self) -> set[str]:
        return {line.split()[1] for line in self.said.splitlines() if line.endswith("from the store]")}

    def rewards(self) -> list[float]:
        places = sorted((self.root / "cache" / "rot" / "r0" / "trials" / "scripted-solver").iterdir())
        return [json.loads((place / "grade.json").read_bytes())["evidence"]["reward"] for place in places]

    def bought(self) -> int:
        ledger = self.root / "cache" / "rot" / "ledger.jsonl"
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    def spec(self, old: str, new: str) -> None:
        path = self.root / "specs" / "rot.yaml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def program(self, old: str, new: str, name: str) -> None:
        """Let a program like this one build, in which one file of the verifier says something else."""
        self.package = self.root / "other"
        shutil.copytree(ROOT / "programsmith", self.package / "programsmith", ignore=shutil.ignore_patterns("*.pyc"))
        shutil.copytree(ROOT / "rules", self.package / "rules")
        path = self.package / "programsmith" / "payload" / "verifier" / name
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Built once; each test changes a copy, for a project may be moved."""
    root = tmp_path_factory.mktemp("tried") / "project"
    root.mkdir()
    lay(root)
    lay_solvers(root)
    rule(root, "adversaries", wanted={"adversaries": 2, "defences": 2})
    (root / "specs" / "rot.yaml").write_text(SPEC)
    tried = Tried(root)
    ran = tried.build()
    assert tried.answer == (0, "ship"), tried.said
    assert {f"{TRIAL}{n}" for n in range(6)} < ran
    return tried


@pytest.fixture
def tried(shipped: Tried, tmp_path: Path) -> Tried:
    shutil.copytree(shipped.root, tmp_path / "project", symlinks=True)
    return Tried(tmp_path / "project")


def test_six_attempts_leave_six_artifacts_and_three_score(shipped: Tried) -> None:
    assert shipped.rewards() == [1, 1, 1, 0, 0, 0]
    assert shipped.bought() == 12  # a reservation and what became of it, for each trial
    assert (shipped.root / "dist" / "rot" / "task.toml").exists()


def test_an_edit_of_the_band_reuses_every_trial_and_every_grade(tried: Tried) -> None:
    tried.spec("max: 0.9}", "max: 0.95}")
    assert tried.build() == {"r0:b0:calibrate", "r0:gate", "r0:export"}
    assert (tried.answer, tried.bought()) == ((0, "ship"), 12)


def test_a_task_that_is_too_easy_for_its_band_is_shelved_as_easy_at_no_cost(tried: Tried) -> None:
    tried.spec("min: 0.1, max: 0.9}", "max: 0.1}")
    assert tried.build() == {"r0:b0:calibrate", "r0:gate", "r0:export"}
    assert (tried.answer, tried.bought()) == ((1, "shelve_easy"), 12)
    assert not (tried.root / "dist" / "rot").exists()


@pytest.mark.parametrize(
    ("line", "name"),
    [("class BundleError(Exception):", "grade.py"), ("def comparator(", "compare.py")],  # the agent's runner has one
)
def test_another_verifier_grades_every_recorded_artifact_again_and_buys_none(
    tried: Tried, line: str, name: str
) -> None:
    tried.program(line, f"# another one\n{line}", name)
    ran = tried.build()
    assert {f"{GRADE}{n}" for n in range(6)} < ran
    assert tried.restored() == {f"{TRIAL}{n}" for n in range(6)}
    assert (tried.answer, tried.bought(), tried.rewards()) == ((0, "ship"), 12, [1, 1, 1, 0, 0, 0])


def test_a_lost_cache_comes_back_from_the_store_and_buys_none(tried: Tried) -> None:
    shutil.rmtree(tried.root / "cache" / "rot")
    assert tried.build() == {"r0:images", "r0:export"}  # what this host builds, and what lies outside the cache
    assert (tried.answer, tried.bought(), tried.rewards()) == ((0, "ship"), 0, [1, 1, 1, 0, 0, 0])


def test_a_verifier_that_lost_a_defence_does_not_ship(tried: Tried) -> None:
    tried.program(EMPTIED, "", "receive.py")
    assert "r0:static" in tried.build()
    assert tried.answer == (1, "drop")
    record = json.loads((tried.root / "cache" / "rot" / "r0" / "static.json").read_bytes())
    assert [row["id"] for row in record["evidence"]["checks"] if not row["passed"]] == ["fresh_output"]
    assert not (tried.root / "dist" / "rot").exists()
