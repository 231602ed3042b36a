"""What becomes of a trial by how its calls ended, by the record of its gateway, and by whether it was reached."""

from __future__ import annotations

import os
import resource
import signal
import time
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from programsmith.agents import serving
from programsmith.agents.base import Made
from programsmith.agents.serving import Asks, asks, fate
from programsmith.blocks import trial
from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.gateway.record import Account, settled
from programsmith.records.trial import Stop
from programsmith.rulebook.load import Rulebook
from tests.samples.gateways import HAIKU, KEYS, ask, message, rules

BOOK = Rulebook(None)


@pytest.mark.parametrize(
    ("last", "stop", "becomes"),
    [
        ("ok", Stop.DONE, Stop.DONE),
        ("cancelled", Stop.WALL, Stop.WALL),
        ("invalid", Stop.CRASHED, Stop.CRASHED),
        ("budget", Stop.CRASHED, Stop.BUDGET),
        ("calls", Stop.DONE, Stop.BUDGET),
    ],
)
def test_how_the_last_call_ended_says_why_a_trial_did(last: str | None, stop: Stop, becomes: Stop) -> None:
    assert fate(Account(calls=3, last=last, ends={"ok": 1}), BOOK.load("failures"), stop) is becomes


@pytest.mark.parametrize("name", ["auth", "rate_limit", "overload", "network", "context_length", "refusal", "fault"])
def test_a_failure_that_its_class_calls_infra_is_no_trial(name: str) -> None:
    account = Account(calls=3, usd=Decimal("0.5"), last=name, after=7.0)
    with pytest.raises(InfraError, match=rf"3 calls of the model ended in {name}; .* wait 7 s; 0\.5 usd") as fault:
        fate(account, BOOK.load("failures"), Stop.DONE)
    assert (fault.value.again, fault.value.after) == (BOOK.load("failures")["classes"][name]["again"], 7.0)


@pytest.mark.parametrize(
    ("last", "becomes"), [("budget", Stop.BUDGET), ("calls", Stop.BUDGET), ("cancelled", Stop.WALL)]
)
def test_what_ran_out_over_failures_is_no_trial(last: str, becomes: Stop) -> None:
    """Answers that break off cost money and time, and what is left of these is the agent's."""
    rule, ends = BOOK.load("failures"), {"ok": 2, "network": 3}
    assert fate(Account(calls=5, last=last, told="ok", ends=ends), rule, Stop.WALL) is becomes
    with pytest.raises(InfraError, match="5 calls of the model ended in network") as fault:
        fate(Account(calls=5, last=last, told="network", ends=ends), rule, Stop.WALL)
    assert fault.value.again


@pytest.mark.parametrize("stop", [Stop.DONE, Stop.LIMIT, Stop.CRASHED])
def test_an_agent_that_calls_off_its_last_call_itself_did_not_run_out_of_time(stop: Stop) -> None:
    account = Account(calls=5, last="cancelled", told="refusal", ends={"ok": 2, "refusal": 1})
    assert fate(account, BOOK.load("failures"), stop) is stop


def test_a_harness_speaks_what_its_models_provider_does() -> None:
    rows, models = BOOK.load("agents")["agents"], BOOK.load("models")
    mini = rows["mini-swe-agent"]
    assert asks(mini, models, "anthropic/claude-haiku-4-5") == Asks(model="claude-haiku-4-5", protocol="anthropic")
    assert asks(mini, models, "openai/gpt-5.5") == Asks(model="gpt-5.5", protocol="chat")
    with pytest.raises(InputError, match="no such model that speaks"):
        asks(rows["claude-code"], models, "openai/gpt-5.5")
    with pytest.raises(InputError, match="no such model"):
        asks(mini, models, "openai/none")


def test_what_a_trial_may_spend_is_its_entrys_or_the_rules() -> None:
    rule = BOOK.load("agents")
    assert [serving.most(entry, rule) for entry in ({}, {"usd": None}, {"usd": 0}, {"usd": 0.1})] == [5, 5, 0, 0.1]


@pytest.mark.parametrize(
    "account",
    [
        Account(),
        Account(calls=2, last="invalid", ends={"invalid": 2}),
        Account(calls=1, last="cancelled", ends={"cancelled": 1}),
    ],
)
def test_an_agent_whose_model_never_answered_did_not_try(account: Account) -> None:
    with pytest.raises(InfraError, match=r"before a model answered it: \d calls.* last words: no such library$"):
        fate(account, BOOK.load("failures"), Stop.CRASHED, b"no such library\n")


def test_a_budget_that_covers_no_call_is_a_budget_that_is_spent() -> None:
    assert fate(Account(last="budget"), BOOK.load("failures"), Stop.CRASHED) is Stop.BUDGET


@pytest.mark.parametrize(
    ("last", "unreached", "becomes"),
    [
        ("ok", 7.0, None),
        ("ok", 3.0, Stop.CRASHED),  # and was reached again
        ("invalid", 7.0, None),
        ("budget", 7.0, Stop.BUDGET),
    ],
)
def test_an_agent_that_does_not_reach_its_gateway_at_last_did_not_try(
    last: str, unreached: float, becomes: Stop | None
) -> None:
    account = Account(calls=2, last=last, ends={"ok": 1}, at=5.0)
    if becomes is not None:
        assert fate(account, BOOK.load("failures"), Stop.CRASHED, unreached=unreached) is becomes
        return
    with pytest.raises(InfraError, match="no way to the gateway") as fault:
        fate(account, BOOK.load("failures"), Stop.CRASHED, unreached=unreached)
    assert fault.value.again


def test_a_gateway_that_gives_up_leaves_no_trial(tmp_path: Path) -> None:
    """Its record takes nothing any more: what would be asked after that could not be billed."""
    record = serving.begun(tmp_path / "calls" / "1.jsonl")

    def tries() -> None:
        with serving.served(HAIKU, 1.0, rules(), KEYS, record) as running:
            resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (0, 0))
            assert ask(running, "/v1/messages", message())[0] == 500

    with pytest.raises(InfraError, match="the model gateway ended with 2 while its agent worked"):
        tries()


def test_a_gateway_that_died_under_an_agent_leaves_no_trial(tmp_path: Path) -> None:
    record = serving.begun(tmp_path / "calls" / "1.jsonl")

    def tries() -> None:
        with serving.served(HAIKU, 1.0, rules(), KEYS, record) as running:
            os.kill(running.pid, signal.SIGKILL)
            while running.ended() is None:
                time.sleep(0.01)

    with pytest.raises(InfraError, match="gateway ended with -9 while its agent worked"):
        tries()


def test_an_attempt_that_cannot_begin_is_known_to_have_spent_nothing(tmp_path: Path) -> None:
    record = tmp_path / "calls" / "1.jsonl"
    row = {**BOOK.load("agents")["agents"]["codex"], "version": "0.0.0"}
    scene: Any = SimpleNamespace(
        job=SimpleNamespace(rules=BOOK.load, calls=record, environment={}),
        which=SimpleNamespace(agent="codex", model="openai/gpt-5.4-mini"),
        made=Made(entry={}, project=tmp_path, bundle=tmp_path, harness=row),
    )
    with pytest.raises(PrerequisiteError, match="is not installed"):
        trial._served(scene, ())
    assert settled(record) == Account()
