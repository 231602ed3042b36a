"""A whole build whose trials a real coding agent makes: money reserved, calls recorded, the ledger settled."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from programsmith.agents.installed import installed
from programsmith.errors import Exit, PrerequisiteError
from programsmith.gateway.record import account
from programsmith.rulebook.load import Rulebook
from programsmith.store.ledger import Kind, Ledger
from tests.samples.conversation import conversation
from tests.samples.gateways import KEYS, rules
from tests.samples.provider import Provider, Turn, provider
from tests.samples.rot_project import lay, rule
from tests.samples.tried import Tried

pytestmark = pytest.mark.agents
SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
sandbox: bubblewrap
budget: {usd: 1, agent_wall: 2m}
rollouts: [{agent: codex, model: openai/gpt-5.4-mini, trials: 1, usd: 0.75}]
probe: {adversaries: [stale_executable, reward_from_run]}
revisions: {max: 0}
"""
USD = Decimal("0.000975")  # of a call: 1000 tokens in, 50 out


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    try:
        installed("codex", Rulebook(None).load("agents")["agents"]["codex"])
    except PrerequisiteError as lacks:
        pytest.skip(str(lacks))
    root = tmp_path_factory.mktemp("agents") / "project"
    root.mkdir()
    lay(root)
    rule(root, "adversaries", wanted={"adversaries": 2, "defences": 2})
    (root / "specs" / "rot.yaml").write_text(SPEC)
    return Tried(root)


def served(project: Tried, far: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's models are the provider's."""
    models = copy.deepcopy(rules(far.address)["models"])
    (project.root / "rules" / "models.yaml").write_text(yaml.safe_dump(models))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def events(project: Tried) -> list[Any]:
    path = project.root / "cache" / "rot" / "ledger.jsonl"
    return list(Ledger(path)._parsed(path.read_bytes()))


def test_a_build_pays_what_its_agents_calls_took_and_never_twice(
    project: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(Turn(status=401, error={"error": {"message": "no"}})) as closed:
        served(project, closed, monkeypatch)
        project.build()
    assert project.answer[:2] == (2, "infra"), project.said
    assert "ended in auth" in project.said
    broken = events(project)
    assert [(e.kind, e.usd) for e in broken] == [(Kind.RESERVE, 0.75), (Kind.SETTLE, 0.0)], (
        "no key is no reason to wait"
    )
    with conversation("echo nothing >/app/submission/notes") as far:
        served(project, far, monkeypatch)
        project.build()
        assert "r0:b0:trial:codex:openai-gpt-5.4-mini:0" in project.said
        reserve, spend = events(project)[2:]
        assert (reserve.kind, spend.kind, reserve.usd) == (Kind.RESERVE, Kind.SPEND, 0.75)
        calls = account(project.root / "cache" / "rot" / "calls" / f"{reserve.id}.jsonl")
        assert (calls.calls, calls.usd, spend.usd) == (2, 2 * USD, float(2 * USD))
        trial = project.record("r0/trials/codex-openai-gpt-5.4-mini/0/trial")["evidence"]
        assert (trial["calls"], trial["usd"], trial["stop"]) == (2, spend.usd, "done")
        assert project.rewards("r0/trials/codex-openai-gpt-5.4-mini") == [0.0]
        asked = len(far.asked)
        project.build()
        assert (len(far.asked), len(events(project))) == (asked, 4), "nothing is bought twice"
    status = json.loads(project.verb("status", "--json").stdout)
    assert KEYS["OPENAI_API_KEY"] not in json.dumps(status)
    everything = [path for path in Path(project.root).rglob("*") if path.is_file() and not path.is_symlink()]
    assert all(KEYS["OPENAI_API_KEY"].encode() not in path.read_bytes() for path in everything)


def test_a_model_that_always_declines_never_scores_and_costs_no_more_than_the_budget(
    project: Tried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = project.copy(tmp_path / "again")
    again.spec("revisions:", "generation: 2\nrevisions:")
    before, ends = len(events(again)), list[Any]()
    with provider(Turn(stop="content_filter", taken=200_000)) as far:
        served(again, far, monkeypatch)
        while not ends or (ends[-1][0] == Exit.INFRA and len(ends) < 5):
            again.build()
            ends.append(again.answer)
            assert ("ended in refusal" in again.said) is (ends[-1][0] == Exit.INFRA), again.said
    *declined, spent = ends
    assert declined == [(Exit.INFRA, "infra")] * len(declined) != []
    assert spent[0] == Exit.USAGE
    assert "budget" in again.said
    bought = events(again)[before:]
    assert [event.kind for event in bought] == [Kind.RESERVE, Kind.SETTLE] * len(declined), "each was tried once"
    assert 0.15 * len(declined) <= sum(event.usd for event in bought if event.kind is Kind.SETTLE) <= 1
    assert len(far.asked) < 20
