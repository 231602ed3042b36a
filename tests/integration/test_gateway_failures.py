"""Each class of failures in the words of each protocol's providers: what record, client and trial are told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from programsmith.gateway.failures import Failures
from programsmith.gateway.record import Declined, events
from programsmith.rulebook.load import Rulebook
from tests.samples.failing import FAILING, QUOTA, WAITS
from tests.samples.gateways import HELLO, ask, closed, running, streamed
from tests.samples.provider import Turn, provider

TRIALS = Failures(Rulebook(None).load("failures"))


@pytest.mark.parametrize("protocol", FAILING)
def test_each_class_in_the_words_of_each_provider(protocol: str) -> None:
    rows = [(name, turn) for name, turns in FAILING[protocol].items() for turn in turns]
    assert {name for name, _ in rows} == {"auth", "rate_limit", "overload", "context_length", "refusal", "network"}
    with provider(*(turn for _, turn in rows)) as far, running(far.address, attempts=1) as made:
        for name, turn in rows:
            status, headers, answer = ask(made, *HELLO[protocol])
            told = closed(made)[-1]
            assert told.end == name, (turn.error, turn.stop)
            assert TRIALS.trial(told.end) == "infra"
            assert turn.stop or (status >= 400 and "error" in json.loads(answer))
            wait = 26.5 if turn is WAITS else None
            assert (told.after, headers.get("retry-after")) == (wait, "27" if wait else None)


@pytest.mark.parametrize("protocol", FAILING)
def test_a_budget_that_is_spent_is_told_and_ends_the_trial(protocol: str) -> None:
    with provider() as far, running(far.address, usd=0.0) as made:
        status, _, answer = ask(made, *HELLO[protocol])
        (refused,) = [event for event in events(made.record) if isinstance(event, Declined)]
        assert (status, "error" in json.loads(answer), refused.why, far.asked) == (402, True, "budget", [])
        assert TRIALS.trial(made.account().last) == "stop"


IN_A_STREAM: dict[str, dict[str, Any]] = {
    "anthropic": {
        "overload": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "rate_limit": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}},
    },
    "responses": {
        "rate_limit": {"type": "error", "code": "rate_limit_exceeded", "message": "slow"},
        "context_length": {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "long"}},
        },
    },
    "chat": {"rate_limit": {"error": {"code": "rate_limit_exceeded", "message": "slow"}}},
    "gemini": {
        "rate_limit": {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": QUOTA}},
        "overload": {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}},
    },
}


@pytest.mark.parametrize("protocol", IN_A_STREAM)
def test_an_error_inside_a_stream_is_of_its_class_too(protocol: str) -> None:
    rows = IN_A_STREAM[protocol]
    turns = [
        Turn(raw=f"data: {json.dumps(event)}\n\n".encode(), kind="text/event-stream; charset=utf-8")
        for event in rows.values()
    ]
    with provider(*turns) as far, running(far.address) as made:
        for name in rows:
            ask(made, *streamed(protocol))
            assert closed(made)[-1].end == name


REFUSES: dict[str, Any] = {
    "responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help with that."}]}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "chat": {
        "choices": [{"message": {"content": None, "refusal": "I cannot help with that."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    },
    "gemini": {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1}},
}


@pytest.mark.parametrize("protocol", REFUSES)
def test_a_model_that_declines_in_its_protocols_own_field_has_declined(protocol: str) -> None:
    turn = Turn(raw=json.dumps(REFUSES[protocol]).encode())
    with provider(turn) as far, running(far.address) as made:
        assert ask(made, *HELLO[protocol])[0] == 200
        assert closed(made)[-1].end == "refusal"
