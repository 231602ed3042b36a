"""The gateway between a client and a provider: what passes, in whose words, and what is counted."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from pathlib import Path

import pytest

from programsmith.errors import BudgetError
from programsmith.gateway.record import Declined, Usage, events
from programsmith.store.budget import Budget
from programsmith.store.ledger import Ledger
from tests.samples.gateways import (
    HELLO,
    Connection,
    ask,
    closed,
    message,
    opened,
    running,
    streamed,
    until,
)
from tests.samples.provider import KEY, Turn, provider

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("protocol", HELLO)
def test_a_call_passes_with_our_key_and_our_words_alone(protocol: str) -> None:
    path, body = HELLO[protocol]
    with provider(Turn(taken=100, given=7)) as far, running(far.address) as made:
        dirty = {"authorization": "Bearer client", "x_api_key": "client", "x_goog_api_key": "client", "cookie": "a=b"}
        status, headers, answer = ask(
            made, path, body, **dirty, host="evil", user_agent="agent", x_forwarded_host="evil", openai_organization="o"
        )
        assert (status, headers["content-type"]) == (200, "application/json")
        assert b"done" in answer
        seen = far.asked[0]
        assert KEY in (seen.headers.get("x-api-key", "") + seen.headers.get("authorization", "") + str(seen.headers))
        assert "client" not in str(seen)
        assert "evil" not in str(seen)
        assert set(seen.headers) <= {
            "host", "content-type", "content-length", "accept", "accept-encoding", "user-agent", "connection",
            "anthropic-version", "x-api-key", "authorization", "x-goog-api-key",
        }  # fmt: skip
        assert made.account().tokens.output == 7
        assert [event.usage for event in closed(made)] == [Usage.FINAL]


@pytest.mark.parametrize("protocol", HELLO)
def test_a_stream_comes_event_by_event_and_is_counted(protocol: str) -> None:
    pause = threading.Event()
    with provider(Turn(taken=100, given=7, pause=pause)) as far, running(far.address) as made:
        path, body = streamed(protocol)
        connection = Connection(made.socket)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        first = answer.read1(65536)
        assert first.startswith((b"data:", b"event:")), "it comes while the provider still waits"
        pause.set()
        rest = answer.read()
        connection.close()
        assert rest
        assert answer.headers["content-type"] == "text/event-stream"
        assert b'"usage": {"prompt' not in first + rest, "no chunk that the client did not ask for"
        found = made.account()
        assert (found.tokens.taken, found.tokens.output, found.last) == (100, 7, "ok")


def test_a_client_of_chat_that_asks_for_usage_gets_it() -> None:
    path, body = streamed("chat")
    with provider() as far, running(far.address) as made:
        _, _, answer = ask(made, path, {**body, "stream_options": {"include_usage": True}})
        assert b'"usage": {"prompt_tokens": 10' in answer


def test_what_no_route_has_is_answered_in_the_clients_words() -> None:
    with provider() as far, running(far.address) as made:
        assert ask(made, "/v1/files", {})[0] == 404
        assert ask(made, "/", b"", "HEAD")[0] == 200
        status, _, answer = ask(made, "/v1/messages", message(model="claude-opus-4-8"))
        assert (status, json.loads(answer)["error"]["type"]) == (404, "not_found_error")
        status, _, answer = ask(made, "/v1/chat/completions", {**HELLO["chat"][1], "model": "gpt-5"})
        assert (status, json.loads(answer)["error"]["code"]) == (404, "model_not_found")
        path, body = HELLO["gemini"]
        status, _, answer = ask(made, path.replace("2.5", "2.0"), body)
        assert (status, json.loads(answer)["error"]["status"]) == (404, "NOT_FOUND")
        assert far.asked == []
        whys = [event.why for event in events(made.record) if isinstance(event, Declined)]
        assert whys == ["path", "model", "model", "model"]


def test_what_is_left_out_is_named_in_the_record_and_betas_pass_by_name() -> None:
    with provider() as far, running(far.address) as made:
        body = message(tools=[{"type": "web_search_20250305", "name": "web_search"}], service_tier="auto")
        betas = "mcp-client-2025-11-20, interleaved-thinking-2025-05-14,code-execution-2025-08-25"
        assert ask(made, "/v1/messages?beta=true", body, anthropic_beta=betas)[0] == 200
        sent = far.asked[0]
        assert sent.target == "/v1/messages"
        assert sent.json == {**message(), "service_tier": "standard_only"}
        assert sent.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
        assert set(opened(made)[0].left_out) == {
            "anthropic-beta: mcp-client-2025-11-20",
            "anthropic-beta: code-execution-2025-08-25",
            "service_tier",
            "tools[] web_search_20250305",
        }


def test_nothing_is_kept_at_the_provider() -> None:
    with provider() as far, running(far.address) as made:
        for protocol in ("responses", "chat"):
            path, body = HELLO[protocol]
            ask(made, path, {**body, "store": True, "service_tier": "priority"})
            assert far.asked[-1].json["store"] is False
            assert far.asked[-1].json["service_tier"] == "default"


def test_every_answer_has_a_cap() -> None:
    with provider() as far, running(far.address) as made:
        for protocol, name in (("responses", "max_output_tokens"), ("chat", "max_completion_tokens")):
            ask(made, *HELLO[protocol])
            assert far.asked[-1].json[name] == 128000
        ask(made, *HELLO["gemini"])
        assert far.asked[-1].json["generationConfig"] == {"maxOutputTokens": 65536}
        ask(made, "/v1/messages", message(max_tokens=10**9))
        assert far.asked[-1].json["max_tokens"] == 64000
        for bad in (0, -1, 1.5):
            assert ask(made, "/v1/messages", message(max_tokens=bad))[0] == 400


def test_a_tenth_of_a_dollar_covers_a_coding_agents_first_call_and_no_third() -> None:
    """116 kB of tools and prompt at 2.5 bytes a token leave room for an answer; the next call is refused."""
    big = message(max_tokens=32_000, system="x" * 116_000)
    with provider(Turn(taken=45_000, given=400)) as far, running(far.address, usd=0.10) as made:
        assert [ask(made, "/v1/messages", big)[0] for _ in range(3)] == [200, 402, 402]
        assert 2048 <= far.asked[0].json["max_tokens"] < 32_000
        assert made.account().usd < Decimal("0.10")
        assert made.account().last == "budget"


def test_text_of_more_tokens_than_reckoned_is_reckoned_so_from_the_next_call_on() -> None:
    """A token a byte, all that a budget allows: the first call passes its share, and no second one is sent."""
    dense = message(max_tokens=2048, system="x" * 116_000)
    with provider(Turn(taken=116_000, given=10)) as far, running(far.address, usd=0.20) as made:
        assert ask(made, "/v1/messages", dense)[0] == 200
        first = Decimal(opened(made)[0].usd)
        assert made.account().usd > first, "it took more than was held for it"
        assert ask(made, "/v1/messages", dense)[0] == 402
    with provider(Turn(taken=116_000, given=10)) as far, running(far.address, usd=10.0) as made:
        assert [ask(made, "/v1/messages", dense)[0] for _ in range(2)] == [200, 200]
        held = [Decimal(call.usd) for call in opened(made)]
        assert held[1] > 2 * held[0]
        assert made.account().usd / 2 <= held[1]


def test_a_tenth_of_a_dollar_stops_a_runaway_agent_within_one_call() -> None:
    """Each call takes 0.011 usd. Nine are covered; the tenth could pass the budget and is not sent."""
    with provider(Turn(taken=1000, given=2000)) as far, running(far.address, usd=0.10) as made:
        ends = [ask(made, "/v1/messages", message(max_tokens=2000))[0] for _ in range(30)]
        found = made.account()
        assert ends == [200] * len(far.asked) + [402] * (30 - len(far.asked))
        assert 5 <= len(far.asked) <= 9
        assert found.usd == Decimal("0.011") * len(far.asked) <= Decimal("0.10")
        assert found.last == "budget"
        _, _, told = ask(made, "/v1/messages", message(max_tokens=2000))
        assert json.loads(told)["error"]["type"] == "billing_error"


def test_near_its_budgets_end_an_agent_gets_shorter_answers_and_then_none() -> None:
    with provider(Turn(taken=10, given=10)) as far, running(far.address, usd=0.10) as made:
        assert ask(made, "/v1/messages", message(max_tokens=32000))[0] == 200
        assert 2048 <= far.asked[0].json["max_tokens"] < 32000
        assert opened(made)[0].cap == far.asked[0].json["max_tokens"]
        assert Decimal(opened(made)[0].usd) <= Decimal("0.10")
        assert ask(made, "/v1/messages", message(max_tokens=32000, system="x" * 180_000))[0] == 402


def test_an_answer_that_is_held_to_less_thinks_less() -> None:
    """A client that asks for as much thought as answer is not refused where a shorter answer would do."""
    asked = message(max_tokens=32_000, thinking={"type": "enabled", "budget_tokens": 31_999}, system="x" * 50_000)
    with provider() as far, running(far.address, usd=0.10) as made:
        assert ask(made, "/v1/messages", asked)[0] == 200
        sent = far.asked[0].json
        assert 2048 <= sent["max_tokens"] < 32_000
        assert sent["thinking"] == {"type": "enabled", "budget_tokens": sent["max_tokens"] // 2}
        roomy = {**asked, "max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 3000}}
        assert ask(made, "/v1/messages", roomy)[0] == 200
        assert far.asked[1].json["thinking"]["budget_tokens"] == 3000


def test_calls_that_race_never_pass_the_budget_together() -> None:
    gate = threading.Event()
    with provider(Turn(taken=100, given=900, gate=gate)) as far, running(far.address, usd=0.03, concurrent=8) as made:
        ends: list[int] = []
        threads = [
            threading.Thread(target=lambda: ends.append(ask(made, "/v1/messages", message(max_tokens=900))[0]))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(ends) == 16 - len(far.asked) and bool(far.asked))
        held = sum(Decimal(call.usd) for call in opened(made))
        assert held <= Decimal("0.03")
        gate.set()
        for thread in threads:
            thread.join()
        assert sorted(set(ends)) == [200, 402]
        assert made.account().usd <= Decimal("0.03")


def test_only_so_many_calls_run_at_a_time_and_only_so_many_wait() -> None:
    gate = threading.Event()
    with provider(Turn(gate=gate)) as far, running(far.address, concurrent=2, waiting=1) as made:
        ends: list[int] = []
        threads = [threading.Thread(target=lambda: ends.append(ask(made, *HELLO["anthropic"])[0])) for _ in range(6)]
        for thread in threads:
            thread.start()
        until(lambda: len(ends) == 3 and len(far.asked) == 2)
        assert ends == [429] * 3
        gate.set()
        for thread in threads:
            thread.join()
        assert sorted(ends) == [200] * 3 + [429] * 3


def test_the_specs_budget_holds_what_a_trial_may_spend_and_counts_what_it_took(tmp_path: Path) -> None:
    """Three trials of 0.05 usd under a spec's 0.12: two are made, the third would only fit what is left of them."""
    budget = Budget(ledger=Ledger(tmp_path / "ledger.jsonl"), usd=0.12)
    with provider(Turn(taken=1000, given=2000)) as far:
        for trial in range(2):
            with budget.reserved(f"trial:{trial}", "k", 0.05) as took, running(far.address, usd=0.05) as made:
                while ask(made, "/v1/messages", message(max_tokens=2000))[0] == 200:
                    pass
                took.append(float(made.account().usd))
        spent = budget.ledger.account().spent
        assert spent == Decimal("0.011") * len(far.asked) <= Decimal("0.10")
        with pytest.raises(BudgetError):
            budget.reserve("trial:2", "k", 0.06)
        held = budget.reserve("trial:2", "k", 0.03)
        with running(far.address, usd=0.03) as made:
            assert ask(made, "/v1/messages", message(max_tokens=2000))[0] == 200
            usd = made.account().usd
        budget.ledger.settle(held.id, float(usd), 1.0)
        assert budget.ledger.account().reserved == 0
        assert budget.ledger.account().spent == spent + Decimal("0.011")


def test_a_trial_makes_only_so_many_calls() -> None:
    with provider() as far, running(far.address, calls=2) as made:
        assert [ask(made, *HELLO["anthropic"])[0] for _ in range(4)] == [200, 200, 402, 402]
        assert (len(far.asked), made.account().last) == (2, "calls")


def test_counting_tokens_costs_nothing_and_needs_no_budget() -> None:
    with provider(Turn(taken=42)) as far, running(far.address, usd=None) as made:
        body = {name: value for name, value in message().items() if name != "max_tokens"}
        status, _, answer = ask(made, "/v1/messages/count_tokens", body)
        assert (status, json.loads(answer)["input_tokens"]) == (200, 42)
        assert far.asked[0].json == body
        assert made.account().usd == 0
        assert ask(made, *HELLO["anthropic"])[0] == 402
