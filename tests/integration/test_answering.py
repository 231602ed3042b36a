"""An answer is bought once, within the budget, and the ledger tells of it: the real gateway, a provider of tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from programsmith.compiler.answering import Answering
from programsmith.compiler.bought import reckoned
from programsmith.compiler.paths import Project
from programsmith.compiler.storage import action_cache
from programsmith.errors import BudgetError, InfraError, InputError, PrerequisiteError
from programsmith.gateway.price import Tokens
from programsmith.gateway.record import Closed, Opened, Record, Usage
from programsmith.models.price import call_usd
from programsmith.models.request import Request
from programsmith.store.budget import Budget
from programsmith.store.ledger import Kind, Ledger
from tests.samples.gateways import FLASH, GPT, HAIKU, KEYS, rules
from tests.samples.provider import Provider, Turn, provider

HOW = "run: pip install 'programsmith[models]'"
CLIENT = {HAIKU: "anthropic", GPT: "openai", FLASH: "google.genai"}
OWN, OF_OPENAI = "vllm/own", {"key": "OPENAI_API_KEY", "sends": {"header": "authorization", "before": "Bearer "}}
SAID = '{"choice": 0, "why": "x"}'


def ask(model: str = HAIKU, text: str = "which?") -> Request:
    return Request(block="pick", number=0, model=model, system="sys", turns=(("user", text),), answer_tokens=1000)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "t.yaml").touch()
    return tmp_path


@contextmanager
def answering(
    place: Path, *turns: Turn, usd: float | None = 1.0, store: bool = True, free: bool = False
) -> Iterator[tuple[Callable[[Request], Any], Provider, Ledger]]:
    folder = Project(place).folder("t")
    with provider(*turns) as far:
        held = rules(far.address, attempts=1)
        if free:
            row = {"price": {"input": 0, "output": 0}, "output_most": 4096, "source": "our own", "read": "2026-11-30"}
            held["models"]["models"][OWN] = row
            held["models"]["providers"]["vllm"] |= OF_OPENAI
        made = Answering(
            folder=folder,
            task="t:pick",
            usd=usd,
            load=held.__getitem__,
            cache=(lambda: action_cache(folder.project, place / "specs" / "t.yaml")) if store else None,
            say=lambda line: None,
        )
        yield made, far, Ledger(folder.ledger)


@pytest.mark.parametrize("model", CLIENT)
def test_an_answer_is_bought_metered_and_bought_no_more(place: Path, model: str) -> None:
    pytest.importorskip(CLIENT[model], reason=HOW)
    with answering(place, Turn(text=SAID, taken=1000, given=100)) as (complete, far, ledger):
        first = complete(ask(model))
        assert first.text == SAID
        assert first.usd > 0
        assert float(ledger.account().spent) == first.usd
        assert ledger.account().held == ()
        assert complete(ask(model)) == first
        assert len(far.asked) == 1
        assert complete(ask(model, "other?")).text == SAID
        assert len(far.asked) == 2
        sent = json.dumps(far.asked[0].json)
        assert "sys" in sent
        assert "which?" in sent


def test_the_most_that_a_call_may_cost_is_held_before_it_is_sent(place: Path) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, Turn(text=SAID)) as (complete, far, ledger):
        complete(ask())
        held, spent = ledger.look()
        assert (held.kind, spent.kind) == (Kind.RESERVE, Kind.SPEND)
        assert held.usd == float(call_usd(rules(), ask())) > spent.usd
        assert held.usd >= len(far.asked[0].body) / 1_000_000 + 1000 * 5 / 1_000_000
        assert (held.task, held.key) == ("t:pick", ask().digest)
        assert far.asked[0].json["max_tokens"] == 1000  # the bound leaves room for the whole answer


@pytest.mark.parametrize("usd", [None, 0.0001])
def test_a_call_that_could_pass_the_budget_is_not_made(place: Path, usd: float | None) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, Turn(text=SAID), usd=usd) as (complete, far, ledger):
        with pytest.raises(BudgetError):
            complete(ask())
        assert far.asked == []
        assert ledger.look() == []


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "authentication_error"), (529, "overloaded_error"), (400, "invalid_request_error")]
)
def test_what_is_not_the_models_matter_is_infra_costs_nothing_and_is_kept_nowhere(
    place: Path, status: int, kind: str
) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    broken = Turn(status=status, error={"error": {"type": kind, "message": "later"}})
    with answering(place, broken, Turn(text=SAID)) as (complete, far, ledger):
        with pytest.raises(InfraError):
            complete(ask())
        assert (ledger.account().spent, ledger.account().held) == (0, ())
        assert complete(ask()).text == SAID
        assert len(far.asked) == 2


@pytest.mark.parametrize(
    ("turn", "again", "after"),
    [
        (Turn(status=401, error={"error": {"message": "no"}}), False, 0.0),
        (Turn(status=400, error={"error": {"message": "no such field"}}), False, 0.0),
        (Turn(status=429, error={"error": {"message": "slow"}}, headers={"retry-after": "40"}), True, 40.0),
        (Turn(status=529, error={"error": {"message": "later"}}), True, 0.0),
    ],
    ids=["auth", "invalid", "rate limit", "overload"],
)
def test_infra_says_whether_and_when_to_ask_again(place: Path, turn: Turn, again: bool, after: float) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, turn) as (complete, _far, _ledger), pytest.raises(InfraError) as fault:
        complete(ask())
    assert (fault.value.again, fault.value.after) == (again, after)


@pytest.mark.parametrize(
    ("turn", "fault"),
    [
        (Turn(stop="refusal"), "refusal"),
        (
            Turn(status=400, error={"error": {"type": "invalid_request_error", "message": "prompt is too long: 9"}}),
            "context_length",
        ),
    ],
)
def test_what_the_same_question_meets_again_is_an_answer(place: Path, turn: Turn, fault: str) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, turn, Turn(text=SAID)) as (complete, far, _ledger):
        assert complete(ask()).fault == fault
        assert complete(ask()).fault == fault
        assert len(far.asked) == 1


def test_a_provider_that_breaks_off_leaves_no_answer_and_no_free_call(place: Path) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, Turn(raw=b'{"type": "message", "content": [', text="")) as (complete, _far, ledger):
        with pytest.raises(InfraError):
            complete(ask())
        assert ledger.account().spent > 0


def test_without_a_key_nothing_is_asked_and_the_variable_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with answering(place) as (complete, _far, ledger), pytest.raises(PrerequisiteError, match="ANTHROPIC_API_KEY"):
        complete(ask())
    assert (ledger.account().spent, ledger.account().held) == (0, ())


def test_a_model_without_a_price_is_refused(place: Path) -> None:
    with answering(place) as (complete, far, _ledger), pytest.raises(InputError, match="no price"):
        complete(ask("anthropic/claude-none"))
    assert far.asked == []


def test_a_run_that_was_killed_after_the_answer_was_kept_is_closed_with_what_it_took(place: Path) -> None:
    pytest.importorskip("anthropic", reason=HOW)
    with answering(place, Turn(text=SAID, taken=1000, given=100)) as (complete, _far, ledger):
        took = complete(ask()).usd
        lines = ledger.path.read_bytes().splitlines(keepends=True)
        assert len(lines) == 2
        for path in Project(place).folder("t").ledgers:  # as if it had died before the second line
            path.write_bytes(lines[0])
        folder = Project(place).folder("t")
        reckoned(SimpleNamespace(folder=folder, cache=complete.cache))  # type: ignore[arg-type,attr-defined]
        assert ledger.account().held == ()
        assert float(ledger.account().spent) == took


@pytest.mark.parametrize(("ended", "spent"), [(True, 0.0001), (False, 0.5)])
def test_what_a_killed_run_asked_and_did_not_keep_is_told_by_the_gateways_record(
    place: Path, ended: bool, spent: float
) -> None:
    """The gateway outlives whoever started it by the time that it takes to write how its call ended."""
    folder = Project(place).folder("t")
    reserved = Budget(ledger=Ledger(folder.ledger), usd=1.0).reserve("t:pick", ask().digest, 0.5)
    folder.calls(reserved.id).parent.mkdir(parents=True)
    record = Record(folder.calls(reserved.id))
    record.write(Opened(id="1", at=0.0, model=HAIKU, route="POST /v1/messages", stream=False, usd="0.5", cap=1000))
    if ended:
        usage = {"tokens": Tokens(input=100), "usage": Usage.FINAL, "usd": "0.0001"}
        record.write(Closed(id="1", at=1.0, end="ok", status=200, attempts=1, **usage))
    record.close()
    reckoned(SimpleNamespace(folder=folder, cache=None))  # type: ignore[arg-type]
    account = Ledger(folder.ledger).account()
    assert (account.held, float(account.spent)) == ((), spent), "a call that nobody closed costs what it was held at"


def test_a_free_model_of_ones_own_needs_no_budget_and_is_told_its_own_cap(place: Path) -> None:
    pytest.importorskip("openai", reason=HOW)
    with answering(place, Turn(text=SAID), usd=None, free=True) as (complete, far, ledger):
        found = complete(ask(OWN))
        assert (found.text, found.usd) == (SAID, 0.0)
        assert (ledger.account().spent, ledger.account().held) == (0, ())
        sent = far.asked[0].json
        assert (sent["max_tokens"], sent["model"], "max_completion_tokens" in sent) == (1000, "own", False)
