"""Which model a harness can ask: it has a price, and speaks what the harness does."""

from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.errors import InputError
from programsmith.spec.load import load_spec, read_spec

REFUSED = {
    "a model without a price": (
        "rollouts: [{agent: codex, model: openai/gpt-5.6}]",
        "rollouts[0].model: wanted a model with a price, got `openai/gpt-5.6`; did you mean `openai/gpt-5.5`?",
    ),
    "a model that a harness cannot talk to": (
        "ceiling: {agent: claude-code, model: openai/gpt-5.5}",
        "ceiling.model: wanted a model that speaks anthropic, as `claude-code` does, got `openai/gpt-5.5`",
    ),
    "a pair of a cross product that cannot talk": (
        "sweep: {agents: [claude-code, mini-swe-agent], models: [anthropic/claude-haiku-4-5, openai/gpt-5.5]}",
        "sweep.models[1]: wanted a model that speaks anthropic, as `claude-code` does, got `openai/gpt-5.5`",
    ),
    "an adversary that cannot talk": (
        "probe: {model: {agent: claude-code, model: openai/gpt-5.5}}\nrollouts: [{agent: nop}]",
        "probe.model.model: wanted a model that speaks anthropic, as `claude-code` does, got `openai/gpt-5.5`",
    ),
}
RUNS = (
    "probe: {model: {agent: codex, model: openai/gpt-5.5, trials: 2, usd: 1}}\nrollouts: [{agent: nop}]",
    "rollouts: [{agent: mini-swe-agent, model: anthropic/claude-haiku-4-5, trials: 6, usd: 0.5}]",
    (
        "sweep: {agents: [claude-code], models: [anthropic/claude-opus-4-8, openai/gpt-5.5], usd: 1, "
        "except: [{agent: claude-code, model: openai/gpt-5.5}]}"
    ),
)


def spec(root: Path, asks: str, budget: str = "budget: {usd: 1}") -> Path:
    (root / "specs").mkdir()
    (root / "src").mkdir()
    path = root / "specs" / "t.yaml"
    path.write_text(f"name: t\nsource: {{path: src}}\n{budget}\n{asks}\n")
    return path


@pytest.mark.parametrize(("asks", "said"), REFUSED.values(), ids=REFUSED)
def test_a_pair_that_cannot_talk_is_refused_by_its_line(tmp_path: Path, asks: str, said: str) -> None:
    path = spec(tmp_path, asks)
    read_spec(path, tmp_path)
    with pytest.raises(InputError) as fault:
        load_spec(path, tmp_path)
    assert str(fault.value) == f"specs/t.yaml:4: {said}"


SMALL = {
    "ceiling: {agent: codex, model: openai/gpt-5.5}": "5 that a trial of ceiling may spend where it says no `usd`",
    "rollouts: [{agent: codex, model: openai/gpt-5.5, usd: 2}]": "2 that a trial of rollouts[0] may spend by its `usd`",
    "sweep: [{agent: codex, model: openai/gpt-5.5, usd: 1.01}]": "1.01 that a trial of sweep[0] may spend by its `usd`",
    "sweep: {agents: [codex], models: [openai/gpt-5.5], usd: 2}": "2 that a trial of sweep may spend by its `usd`",
}


@pytest.mark.parametrize("asks", SMALL)
def test_a_budget_that_buys_no_trial_is_refused_before_anything_runs(tmp_path: Path, asks: str) -> None:
    with pytest.raises(InputError) as fault:
        load_spec(spec(tmp_path, asks), tmp_path)
    assert str(fault.value) == f"specs/t.yaml:3: budget.usd: wanted at least the {SMALL[asks]}, got 1"


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        ("probe: {model: {agent: codex, model: openai/gpt-5.5}}", "probe.model: wanted trials beside it"),
        (
            "probe: {model: {agent: command, command: x, model: a/b}}\nrollouts: [{agent: nop}]",
            "probe.model.usd: wanted the dollars that a trial costs at most",
        ),
    ],
)
def test_an_adversary_has_a_task_and_a_price(tmp_path: Path, asks: str, said: str) -> None:
    with pytest.raises(InputError, match=f"specs/t.yaml:4: {said}"):
        load_spec(spec(tmp_path, asks), tmp_path)


@pytest.mark.parametrize("entry", ["a/b", "{agent: scripted, model: a/b}", "{agent: codex}"])
def test_an_adversary_is_an_agent_with_a_model(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match=r"specs/t.yaml:4: probe.model"):
        load_spec(spec(tmp_path, f"probe: {{model: {entry}}}\nrollouts: [{{agent: nop}}]"), tmp_path)


def test_an_adversary_of_a_paid_model_needs_a_budget(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"budget.usd: wanted .* and probe.model.model names a paid model"):
        load_spec(spec(tmp_path, RUNS[0], "version: 1"), tmp_path)


@pytest.mark.parametrize("asks", RUNS)
def test_pairs_that_talk_are_built(tmp_path: Path, asks: str) -> None:
    assert load_spec(spec(tmp_path, asks), tmp_path).values["budget"]["usd"] == 1


def test_a_projects_own_server_is_asked_for_nothing_and_needs_no_budget(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "models.yaml").write_text(
        'providers:\n  own: {speaks: {chat: "http://127.0.0.1:8000/v1"}}\n'
        'models:\n  own/m: {price: {input: 0, output: 0}, output_most: 9000, source: own, read: "2026-11-30"}\n'
    )
    asks = "rollouts: [{agent: mini-swe-agent, model: own/m, usd: 0}]"
    assert load_spec(spec(tmp_path, asks, "version: 1"), tmp_path).values["budget"]["usd"] is None
