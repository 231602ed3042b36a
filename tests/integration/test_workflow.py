"""The workflow for GitHub: what a pull request cannot do in it, and its steps, run here as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).parents[2] / ".github" / "workflows" / "environments.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text())
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
EVENTS = WORKFLOW[True]  # YAML's word `on`
PUSH = "github.event_name == 'push'"
ON_PULL_REQUESTS = {name: job for name, job in JOBS.items() if PUSH not in str(job.get("if"))}
SAVES = re.compile(r"actions/cache(/save)?@")
ZEROS = "0" * 40


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in JOBS.items():
        yield from ((name, step) for step in job["steps"])


def commands() -> list[str]:
    return [step["run"] for _, step in steps() if "run" in step]


def step_of(job: str, name: str) -> str:
    found: str = next(step["run"] for step in JOBS[job]["steps"] if str(step.get("name")).startswith(name))
    return found


def test_it_begins_on_pull_requests_and_on_main_alone() -> None:
    assert EVENTS == {"pull_request": None, "push": {"branches": ["main"]}}
    assert set(ON_PULL_REQUESTS) == {"changed", "free"}


def test_its_token_reads_and_no_job_may_more() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [job for job in JOBS.values() if "permissions" in job] == []


def test_a_pull_request_gets_no_secret_and_agrees_to_nothing() -> None:
    for job in ON_PULL_REQUESTS.values():
        text = json.dumps(job)
        assert "secrets" not in text
        assert not re.search(r"--yes|\s-\w*y\b", " ".join(str(s.get("run")) for s in job["steps"]))
        assert "environment" not in job
    assert "secrets" not in json.dumps([WORKFLOW.get("env"), WORKFLOW.get("defaults")])


def test_a_pull_request_reads_the_store_and_saves_nothing() -> None:
    found = [step for job in ON_PULL_REQUESTS.values() for step in job["steps"]]
    assert any("actions/cache/restore@" in step.get("uses", "") for step in found)
    assert all(PUSH in step["if"] for step in found if SAVES.search(step.get("uses", "")))


def test_what_costs_is_asked_for_each_time_and_one_at_a_time() -> None:
    paid = JOBS["paid"]
    assert paid["environment"] == "spend"
    assert "matrix.spec" in paid["concurrency"]["group"]
    kept = [step["with"]["path"].split() for step in paid["steps"] if "actions/cache" in step.get("uses", "")]
    assert kept == [["cache/store", "cache/ledger"]] * 2


def test_a_later_push_to_a_pull_request_ends_the_earlier_run() -> None:
    assert "pull_request.number" in WORKFLOW["concurrency"]["group"]
    assert WORKFLOW["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"


def test_actions_are_named_by_their_commit_and_leave_no_token() -> None:
    lines = [line for line in FILE.read_text().splitlines() if "uses:" in line]
    assert lines
    assert all(re.search(r"uses: actions/[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in lines)
    for _, step in steps():
        if "actions/checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_no_word_from_outside_becomes_a_command() -> None:
    assert [command for command in commands() if "${{" in command] == []


def test_jobs_build_side_by_side_and_none_stops_another() -> None:
    for name in ("free", "paid"):
        assert JOBS[name]["strategy"]["fail-fast"] is False
        assert JOBS[name]["strategy"]["matrix"]["spec"] == f"${{{{ fromJSON(needs.changed.outputs.{name}) }}}}"
    assert all(job["timeout-minutes"] <= 350 for job in JOBS.values())


@pytest.mark.parametrize("command", commands())
def test_each_command_is_one_that_bash_reads(command: str) -> None:
    assert subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True).stderr == ""


class Runner:
    """A checkout of two specs, of which one could cost; steps run in it as on a runner."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, price in (("gratis", 0), ("dear", 0.5)):
            (root / name).mkdir(parents=True)
            (root / name / "program").write_text("#!/bin/sh\n")
            self.spec(name, price, "as it was")
        (root / ".gitignore").write_text("cache\n")
        self.git("init", "-q", "-b", "main")
        self.first = self.commit()

    def spec(self, name: str, price: float, description: str) -> None:
        entry = {"agent": "command", "command": "true", "trials": 1} | ({"usd": price} if price else {})
        text = {"version": 1, "name": name, "source": {"path": name}, "description": description, "rollouts": [entry]}
        (self.root / "specs").mkdir(exist_ok=True)
        (self.root / "specs" / f"{name}.yaml").write_text(yaml.safe_dump(text | {"budget": {"usd": 5}}))

    def git(self, *words: str) -> str:
        whom = ["-c", "user.name=t", "-c", "user.email=t@invalid"]
        done = subprocess.run(["git", *whom, *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def run(self, command: str, **env: str) -> subprocess.CompletedProcess[str]:
        place = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        said = {name: str(self.root.with_name(name)) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
            cwd=self.root, env={**os.environ, "PATH": place, **said, **env}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def matrix(self, base: str) -> dict[str, list[str]]:
        output = self.root.with_name("GITHUB_OUTPUT")
        output.write_text("")
        done = self.run(step_of("changed", "Which specs"), BASE=base)
        assert done.returncode == 0, done.stderr
        return {name: json.loads(value) for name, _, value in (s.partition("=") for s in output.read_text().split())}


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    if shutil.which("jq") is None:
        pytest.skip("the runners of GitHub have jq, this machine has none: apt-get install jq")
    return Runner(tmp_path_factory.mktemp("runner") / "checkout")


def test_the_matrix_holds_what_changed_and_tells_what_could_cost(runner: Runner) -> None:
    assert runner.matrix(runner.first) == {"free": [], "paid": []}
    runner.spec("gratis", 0, "otherwise")
    runner.spec("dear", 0.5, "otherwise")
    runner.commit()
    assert runner.matrix(runner.first) == {"free": ["gratis"], "paid": ["dear"]}


def test_a_branch_that_is_new_is_compared_with_the_first_commit(runner: Runner) -> None:
    runner.spec("gratis", 0, "again otherwise")
    runner.commit()
    assert "gratis" in runner.matrix(ZEROS)["free"]


def test_a_spec_that_could_cost_is_refused_where_nobody_agrees(runner: Runner) -> None:
    done = runner.run(step_of("free", "Build"), SPEC="dear")
    assert done.returncode == 3
    assert "--yes" in done.stderr
    assert list(runner.root.glob("cache/**/ledger*")) == []
