"""Whole trials whose model fails, in each class of failures and each protocol: none of them becomes a score."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents.base import AgentTask, Made
from programsmith.agents.bridge import PRIVATE
from programsmith.agents.harness import Harness, Read, Start
from programsmith.agents.registry import AGENTS, HARNESSES
from programsmith.errors import InfraError
from programsmith.gateway.record import account
from programsmith.records.trial import Stop
from programsmith.rulebook.load import Rulebook
from tests.contract.pairs import interpreter, interpreter_tree
from tests.samples.failing import FAILING
from tests.samples.gateways import FLASH, GPT, HAIKU, HELLO, KEYS, rules, streamed
from tests.samples.provider import Turn, provider

MODEL = {"anthropic": HAIKU, "responses": GPT, "chat": GPT, "gemini": FLASH}
NAME = "asker"
CLASSES = ("auth", "rate_limit", "overload", "context_length", "refusal", "network")
ASKER = Path(__file__).parents[2] / "samples" / f"{NAME}.py"


class Asker(Harness):
    """Asks what it is told to, through the relay and the gateway like any other."""

    name = NAME

    def __init__(self, path: str, body: Any, times: int) -> None:
        self.words = (path, json.dumps(body), str(times))

    def tree(self, made: Made) -> Path:  # noqa: ARG002 - every harness has the same form
        return interpreter_tree()

    def start(self, tree: Path, task: AgentTask) -> Start:  # noqa: ARG002 - the same
        own = f"{PRIVATE}/{NAME}.py"
        files = {f"{NAME}.py": ASKER.read_text()}
        return Start(words=(interpreter().decode(), "-I", "-S", own, *self.words), environment={}, files=files)

    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:  # noqa: ARG002 - the same
        return Read()


@pytest.fixture
def asking(own_bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a trial of the asker in a protocol, before a provider."""

    def run(protocol: str, address: str, *, times: int = 1, usd: float = 5, stream: bool = False) -> Any:
        made = Asker(*(streamed(protocol) if stream else HELLO[protocol]), times)
        monkeypatch.setitem(HARNESSES, NAME, made)
        monkeypatch.setitem(AGENTS, NAME, made)
        agents = Rulebook(None).load("agents")
        row = {"version": "1", "speaks": [protocol]}
        own_bench.rules = {**rules(address, attempts=1), "agents": {**agents, "agents": {NAME: row}}}
        own_bench.environment = KEYS
        return own_bench.run({"agent": NAME, "model": MODEL[protocol], "trials": 1, "usd": usd})

    return run


@pytest.mark.parametrize("protocol", FAILING)
@pytest.mark.parametrize("name", CLASSES)
def test_a_trial_that_ends_so_is_none(asking: Any, own_bench: Any, protocol: str, name: str) -> None:
    with provider(Turn(), FAILING[protocol][name][0]) as far, pytest.raises(InfraError, match=f"2 calls .*in {name}"):
        asking(protocol, far.address, times=2)
    assert not list(own_bench.folder.rglob("artifact.tar")), "there is nothing to grade"


@pytest.mark.parametrize("protocol", FAILING)
def test_a_budget_that_is_spent_ends_the_trial_which_is_graded(asking: Any, protocol: str) -> None:
    with provider(Turn(given=1000)) as far:
        left = asking(protocol, far.address, times=200, usd=0.1)
        assert (left.trial.stop, account(left.job.calls).last) == (Stop.BUDGET, "budget")
        assert 0 < left.trial.usd <= 0.1
        assert left.grade().reward == 0


@pytest.mark.parametrize("protocol", FAILING)
def test_a_budget_that_failures_ate_is_no_trial(asking: Any, own_bench: Any, protocol: str) -> None:
    """Answers that break off are paid for: what they leave nothing of says nothing of the agent."""
    with (
        provider(Turn(), Turn(cut=1, taken=100_000)) as far,
        pytest.raises(InfraError, match="calls of the model ended in network") as fault,
    ):
        asking(protocol, far.address, times=200, usd=0.1, stream=True)
    assert fault.value.again
    assert account(next(own_bench.folder.rglob("calls.jsonl"))).last == "budget"
    assert not list(own_bench.folder.rglob("artifact.tar"))
