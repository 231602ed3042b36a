"""What models that decide blocks may take is told before anything is spent, and a spec without them asks nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programsmith.compiler.compile import Compiler
from programsmith.compiler.passes import turn_of, walk_of
from programsmith.compiler.paths import Project
from programsmith.compiler.plan import STEPS, asking
from programsmith.models.price import call_usd, run_usd
from programsmith.models.request import Request, Section, shown, size, system
from programsmith.rulebook.load import Rulebook
from tests.samples.rot_project import lay

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [c, python]}
goldens: {min_kept: 8, held_out: 8}
"""
HAIKU = "anthropic/claude-haiku-4-5"
PAID = f"models: {{matrix: {HAIKU}, pick: {HAIKU}, synthesize: {HAIKU}}}\nbudget: {{usd: 3}}\n"
BOOK = Rulebook(None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lay(tmp_path)
    (tmp_path / "said").mkdir()
    return tmp_path


def say(project: Path, more: str) -> None:
    (project / "specs" / "rot.yaml").write_text(SPEC + more)


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "programsmith", *words, "spec=rot"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


def told(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(project, "plan", "--json").stdout)["specs"][0]["usd"]
    return found


def test_a_plan_tells_the_most_that_each_block_may_take(project: Path) -> None:
    say(project, PAID)
    usd = told(project)
    assert set(usd["models"]) == {"matrix", "pick", "synthesize"}
    assert all(0 < most < 3 for most in usd["models"].values())
    assert usd["at_most"] == pytest.approx(min(3, sum(usd["models"].values())))
    line = run(project, "plan").stdout.splitlines()[0]
    assert f"at most {usd['at_most']:.2f} usd of budget.usd 3" in line
    assert f"pick {usd['models']['pick']:.2f}" in line


def test_nothing_is_spent_unless_somebody_says_so(project: Path) -> None:
    say(project, PAID)
    done = run(project, "build")
    assert done.returncode == 3
    assert "rot may spend up to" in done.stderr
    assert "models that decide blocks take" in done.stderr
    assert not (project / "cache" / "rot" / "ingest.json").exists()


def test_a_replay_costs_nothing(project: Path) -> None:
    say(project, "models: {matrix: replay/said, pick: replay/said}\n")
    assert told(project) == {
        "at_most": 0.0,
        "budget": None,
        "held": 0.0,
        "models": {"matrix": 0.0, "pick": 0.0},
        "spent": 0.0,
    }


def test_the_bound_of_a_run_is_above_every_call_that_it_may_make() -> None:
    rules, asks = {name: BOOK.load(name) for name in ("models", "gateway")}, BOOK.load("asks")
    for block, row in asks["blocks"].items():
        part = system(BOOK.load(f"prompts/{block}.md"), BOOK.load(f"schema/answer_{block}.json"))
        most = run_usd(rules, asks, block, HAIKU, size(part))
        data = shown([Section(name="x", content='\u00e9\x00"\n' * row["data_bytes"], most=1 << 30)], row["data_bytes"])
        again = "x" * (asks["answer_bytes"] + 900)  # a wrong answer, its fault, and the words around them
        longest = Request(
            block=block, number=0, model=HAIKU, system=part, turns=(("user", data + again),),
            answer_tokens=row["answer_tokens"],
        )  # fmt: skip
        assert call_usd(rules, longest) * row["calls"] * (1 + asks["repairs"]) <= most


def test_a_spec_without_models_depends_on_nothing_of_theirs_and_can_ask_nobody(project: Path) -> None:
    say(project, "")
    compiler = Compiler()
    subject = compiler.subject(Project(project), project / "specs" / "rot.yaml")
    assert [asking(step, subject.values) for step in STEPS] == list(STEPS)
    for turn in compiler.view(subject):
        assert turn.job({}, project, print).complete is None
        assert not [cause for cause in turn.slice() if "answer" in cause or cause == "rules/asks"]


def test_a_model_is_a_cause_of_its_own_block_alone(project: Path) -> None:
    say(project, "models: {pick: replay/said}\n")
    compiler = Compiler()
    subject = compiler.subject(Project(project), project / "specs" / "rot.yaml")
    asked = {
        turn.step.block: {cause for cause in turn.slice() if "answer" in cause or cause == "rules/asks"}
        for turn in compiler.view(subject)
    }
    assert asked.pop("pick") == {"rules/asks", "rules/schema/answer_pick.json", "answers pick"}
    assert not any(asked.values())
    walk = walk_of(subject, STEPS)
    assert turn_of(subject, walk, walk.due()[0]).step.block == "ingest"
