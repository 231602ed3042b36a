"""The real pipeline with trials on a tiny program: what edits reuse, what they measure anew, and what does not ship."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.samples.otherwise import EDITS
from tests.samples.rot_project import ROOT, lay, lay_solvers, rule
from tests.samples.tried import Tried

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
    return shipped.copy(tmp_path / "project")


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


@pytest.mark.parametrize("edit", ["a_grader_of_other_code", "a_comparator_of_other_code"])  # the agent's runner has one
def test_another_verifier_grades_every_recorded_artifact_again_and_buys_none(tried: Tried, edit: str) -> None:
    tried.program(EDITS[edit])
    ran = tried.build()
    assert {f"{GRADE}{n}" for n in range(6)} < ran
    assert tried.restored() == {f"{TRIAL}{n}" for n in range(6)}
    assert (tried.answer, tried.bought(), tried.rewards()) == ((0, "ship"), 12, [1, 1, 1, 0, 0, 0])


def test_a_lost_cache_comes_back_from_the_store_and_buys_none(tried: Tried) -> None:
    shutil.rmtree(tried.root / "cache" / "rot")
    assert tried.build() == {"r0:images", "r0:export"}  # what this host builds, and what lies outside the cache
    assert (tried.answer, tried.bought(), tried.rewards()) == ((0, "ship"), 0, [1, 1, 1, 0, 0, 0])


def test_a_verifier_that_lost_a_defence_does_not_ship_even_where_no_check_looks_for_it(tried: Tried) -> None:
    tried.program(EDITS["a_verifier_that_leaves_stale_output"])
    assert "r0:static" in tried.build()
    assert tried.answer == (1, "drop")
    checks = tried.record("r0/static")["evidence"]["checks"]
    assert [row["id"] for row in checks if not row["passed"]] == ["fresh_output"]
    assert not (tried.root / "dist" / "rot").exists()
    known = yaml.safe_load((ROOT / "rules" / "checks.yaml").read_text())["checks"]
    rule(tried.root, "checks", checks=[check for check in known if check["id"] != "fresh_output"])
    tried.build()
    verdict = tried.record("verdict")
    assert (tried.answer, verdict["v"], verdict["not_s"]) == ((1, "drop"), 1, 0)
    assert verdict["reasons"][0].startswith("probe_hacked: 1 adversaries get through: stale_executable (reward 1)")
    assert not (tried.root / "dist" / "rot").exists()


def test_what_an_edited_spec_left_in_dist_is_called_stale_in_one_line(tried: Tried) -> None:
    tar, held = ("export", "spec=rot", "format=tar"), ("verify", "dist/rot")
    assert [(done.returncode, done.stderr) for done in (tried.verb(*tar), tried.verb(*held))] == [(0, "")] * 2
    tried.spec("max: 0.9}", "max: 0.95}")
    for words in (tar, held, ("verify", "dist/rot.tar")):
        done = tried.verb(*words)
        (line,) = done.stderr.splitlines()
        assert line.startswith("rot  stale  r0:b0:calibrate would run: difficulty[0].pass_rate.max: 0.95, was 0.9; ")
        assert (done.returncode, line.endswith("programsmith build spec=rot")) == (0, True)
    standing = "rot  stale  r0:b0  r0:export said exported  the last finished build said ship; "
    assert tried.verb("status").stdout.startswith(standing)
    tried.spec("difficulty", "dificulty")
    assert "rot  stale  it cannot be looked at: " in tried.verb(*tar).stderr
