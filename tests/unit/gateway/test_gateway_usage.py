"""Tokens of answers in four protocols, whole and streamed, and the record that outlives its writer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from programsmith.errors import InfraError
from programsmith.gateway.failures import Failures
from programsmith.gateway.price import Tokens
from programsmith.gateway.record import Account, Closed, Declined, Opened, Record, Usage, account
from programsmith.gateway.sse import StreamError, events
from programsmith.gateway.usage import READERS, Seen
from programsmith.rulebook.load import Rulebook
from tests.samples.provider import SPEAKS, Turn

PROTOCOLS = {
    "anthropic": "/messages",
    "chat": "/chat/completions",
    "responses": "/responses",
    "gemini": ":generateContent",
}
FAILURES = Failures(Rulebook(None).load("failures"))
TURN = Turn(taken=100, cached=30, written=20, given=7)
COUNTED = {
    "anthropic": Tokens(input=100, cache_read=30, cache_write=20, output=7),
    "chat": Tokens(input=70, cache_read=30, output=7),
    "responses": Tokens(input=50, cache_read=30, cache_write=20, output=7),
    "gemini": Tokens(input=70, cache_read=30, output=7),
}


def seen(protocol: str, *pieces: Any) -> Seen:
    found = Seen(declines=("refusal", "content_filter", "SAFETY"))
    for piece in pieces:
        if isinstance(piece, dict):
            READERS[protocol](found, piece)
    return found


def spoken(protocol: str, turn: Turn) -> tuple[Any, list[Any]]:
    return dict(SPEAKS)[PROTOCOLS[protocol]]({"model": "m", "stream_options": {"include_usage": True}}, turn)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_whole_answer_and_its_stream_tell_the_same_tokens(protocol: str) -> None:
    whole, pieces = spoken(protocol, TURN)
    assert seen(protocol, whole).tokens == COUNTED[protocol]
    assert seen(protocol, *pieces).tokens == COUNTED[protocol]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_that_broke_off_tells_no_tokens(protocol: str) -> None:
    _, pieces = spoken(protocol, TURN)
    last = 2 if protocol == "chat" else -1
    assert seen(protocol, *pieces[:last]).tokens is None
    assert seen(protocol).taken is None


def test_a_stream_of_messages_tells_early_what_the_request_took() -> None:
    _, pieces = spoken("anthropic", TURN)
    assert seen("anthropic", pieces[0]).taken == Tokens(input=100, cache_read=30, cache_write=20)


def test_a_cache_that_lives_longer_counts_apart() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 9}
    message = {"type": "message", "usage": {**usage, "cache_creation": {"ephemeral_1h_input_tokens": 4}}}
    assert seen("anthropic", message).tokens == Tokens(input=1, cache_write=5, cache_write_long=4, output=2)


@pytest.mark.parametrize("bad", [-1, True, 1.5, "7", None, 1 << 60, [1]])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_count_that_is_none_says_nothing(protocol: str, bad: object) -> None:
    whole, _ = spoken(protocol, TURN)
    text = json.dumps(whole)
    for name in ("input_tokens", "prompt_tokens", "promptTokenCount"):
        text = text.replace(f'"{name}": 100', f'"{name}": {json.dumps(bad)}')
    assert seen(protocol, json.loads(text)).tokens is None


@pytest.mark.parametrize(
    ("protocol", "word"),
    [("anthropic", "refusal"), ("chat", "content_filter"), ("responses", "content_filter"), ("gemini", "SAFETY")],
)
def test_a_model_that_declines_is_heard(protocol: str, word: str) -> None:
    whole, pieces = spoken(protocol, Turn(stop=word))
    assert seen(protocol, whole).declined
    assert seen(protocol, *pieces).declined
    assert not seen(protocol, spoken(protocol, TURN)[0]).declined


def test_a_blocked_prompt_is_a_whole_answer() -> None:
    blocked = {"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 4}}
    found = seen("gemini", blocked)
    assert (found.declined, found.tokens) == (True, Tokens(input=4))


@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
        ("chat", {"error": {"message": "x"}}),
        ("responses", {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error"}}}),
        ("responses", {"type": "error", "code": "rate_limit_exceeded", "message": "x"}),
        ("gemini", {"error": {"code": 503, "message": "x"}}),
    ],
)
def test_an_error_inside_a_stream_is_seen(protocol: str, event: dict[str, Any]) -> None:
    assert seen(protocol, event).fault is not None


ODD: list[Any] = [None, True, -1, 1.5, "x", "", [], {}, [[]], [{}], {"type": []}, {"error": []}, {"message": [1]}]


def _spoilt(value: Any, odd: Any) -> Iterator[Any]:
    """The value with one part of it replaced, for each of its parts."""
    yield odd
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: made} for made in _spoilt(inner, odd))
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], made, *value[at + 1 :]] for made in _spoilt(inner, odd))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_answer_whatever_it_holds_upsets_the_count(protocol: str) -> None:
    whole, pieces = spoken(protocol, TURN)
    for piece in [whole, *pieces]:
        for odd in ODD:
            for spoilt in _spoilt(piece, odd):
                found = seen(protocol, spoilt)
                for tokens in filter(None, (found.tokens, found.taken)):
                    assert min(asdict(tokens).values()) >= 0
                assert FAILURES.named(None, {"error": found.fault})


def test_a_stream_that_counts_as_it_goes_is_whole_only_at_its_end() -> None:
    piece = {"choices": [{"delta": {"content": "x"}, "finish_reason": None}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    found = seen("chat", {**piece, "usage": usage})
    assert found.tokens is None
    READERS["chat"](found, {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage})
    assert found.tokens == Tokens(input=9, output=1)


async def _fed(raw: bytes, size: int) -> Any:
    for at in range(0, len(raw), size):
        yield raw[at : at + size]


def _events(raw: bytes, size: int, event_most: int = 1000, most: int = 10_000) -> list[tuple[bytes, Any]]:
    import asyncio

    async def collected() -> list[tuple[bytes, Any]]:
        return [found async for found in events(_fed(raw, size), event_most, most)]

    return asyncio.run(collected())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_cut_anywhere_and_come_whole(end: bytes, size: int) -> None:
    raw = end.join([b"event: a", b'data: {"x":', b'data:  "\xc3\xa9"}', b"", b": ping", b"", b"data: [DONE]", b"", b""])
    found = _events(raw, size)
    assert b"".join(event for event, _ in found) == raw
    assert [value for _, value in found] == [{"x": "é"}, None, None]


def test_a_stream_has_bounds() -> None:
    with pytest.raises(StreamError, match="an event of more than 1000 bytes"):
        _events(b"data: " + b"x" * 2000, 100)
    with pytest.raises(StreamError, match="more than 10000 bytes"):
        _events(b"data: x\n\n" * 2000, 100)


def opened(name: str, usd: str = "0.5") -> Opened:
    return Opened(id=name, at=1.0, model="a/m", route="POST /v1/messages", stream=False, usd=usd, cap=9)


def closed(name: str, end: str = "ok", usd: str = "0.1") -> Closed:
    tokens = Tokens(input=3, output=2)
    return Closed(id=name, at=2.0, end=end, status=200, attempts=1, tokens=tokens, usage=Usage.FINAL, usd=usd)


def test_a_call_that_nobody_closed_costs_its_bound(tmp_path: Path) -> None:
    record = Record(tmp_path / "calls.jsonl")
    for event in (opened("a"), closed("a"), opened("b"), closed("b", "overload", "0"), opened("c")):
        record.write(event)
    found = account(tmp_path / "calls.jsonl")
    assert found == Account(
        calls=3, tokens=Tokens(input=6, output=4), usd=Decimal("0.6"), open=1, last="overload", told="overload",
        ends={"ok": 1, "overload": 1}, at=2.0,
    )  # fmt: skip
    assert account(tmp_path / "none.jsonl") == Account()


def test_a_torn_line_never_counted_and_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record = Record(path)
    record.write(opened("a"))
    record.close()
    with path.open("ab") as torn:
        torn.write(b'{"event":"close","id":"a","usd":"0.')
    assert account(path).usd == Decimal("0.5")
    again = Record(path)
    again.write(closed("a"))
    assert account(path).usd == Decimal("0.1")


def test_any_other_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text('{"event":"open"}\n')
    with pytest.raises(InfraError, match=r"calls\.jsonl:1: the record of calls is damaged"):
        account(path)


def test_two_gateways_never_write_one_record(tmp_path: Path) -> None:
    record = Record(tmp_path / "calls.jsonl")
    with pytest.raises(InfraError, match="another gateway writes this record"):
        Record(tmp_path / "calls.jsonl")
    record.close()


def test_a_refusal_for_money_is_how_a_trial_ended(tmp_path: Path) -> None:
    record = Record(tmp_path / "calls.jsonl")
    for event in (opened("a"), closed("a"), Declined(at=3.0, why="path", said="x")):
        record.write(event)
    assert account(tmp_path / "calls.jsonl").last == "ok"
    record.write(Declined(at=4.0, why="budget", said="x"))
    assert account(tmp_path / "calls.jsonl").last == "budget"
    assert os.stat(tmp_path / "calls.jsonl").st_mode & 0o077 == 0
