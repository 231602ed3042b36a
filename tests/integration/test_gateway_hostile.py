"""Requests that try to be two things: what the provider gets is what a table allows, or nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from programsmith.gateway.record import Declined, account, events
from programsmith.gateway.start import Running
from tests.samples.gateways import ask, message, raw, running
from tests.samples.provider import KEY, Asked, Provider, Turn, provider

BODY = json.dumps(message()).encode()


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Provider, Running]]:
    """One gateway for all: what a hostile request did would show in the next."""
    with provider() as far, running(far.address, usd=100.0, body_bytes=200_000) as made:
        yield far, made


@contextmanager
def sent(far: Provider) -> Iterator[list[Asked]]:
    """What the provider is sent meanwhile; afterwards an honest call still passes."""
    before, found = len(far.asked), []
    yield found
    found += far.asked[before:]


def request(line: str, *headers: str, body: bytes = BODY) -> bytes:
    head = [line, "Host: x", "Content-Type: application/json", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def own(body: bytes = BODY) -> str:
    return f"Content-Length: {len(body)}"


def honest(made: Running) -> None:
    assert ask(made, "/v1/messages", message())[0] == 200


def test_an_honest_request_passes_by_the_same_way(place: tuple[Provider, Running]) -> None:
    far, made = place
    with sent(far) as found:
        assert raw(made, request("POST /v1/messages HTTP/1.1", own())).startswith(b"HTTP/1.1 200 ")
    assert [asked.target for asked in found] == ["/v1/messages"]


LINES = [
    "POST http://api.anthropic.com/v1/messages HTTP/1.1",
    "POST //v1/messages HTTP/1.1",
    "POST /v1/messages/../messages HTTP/1.1",
    "POST /v1/%6Dessages HTTP/1.1",
    "POST /v1/messages%00 HTTP/1.1",
    "POST /v1\\messages HTTP/1.1",
    "POST /v1/messages/batches HTTP/1.1",
    "POST /v1/files HTTP/1.1",
    "GET /v1/models HTTP/1.1",
    "DELETE /v1/responses/resp_1 HTTP/1.1",
    "POST /v1/messages?key=abc HTTP/1.1",
    "POST /v1beta/models/gemini-2.5-flash:batchGenerateContent HTTP/1.1",
    "POST /v1beta/models/gemini-2.5-flash/../gemini-2.5-pro:generateContent HTTP/1.1",
    "CONNECT api.anthropic.com:443 HTTP/1.1",
    "TRACE /v1/messages HTTP/1.1",
    "POST v1/messages HTTP/1.1",
    "PRI * HTTP/2.0",
]


@pytest.mark.parametrize("line", LINES)
def test_no_other_request_line_reaches_a_provider(place: tuple[Provider, Running], line: str) -> None:
    far, made = place
    with sent(far) as found:
        answer = raw(made, request(line, own()))
    assert found == []
    assert answer.partition(b" ")[2][:3] in {b"400", b"404", b"405"}
    honest(made)


FRAMES = {
    "length and chunks": request("POST /v1/messages HTTP/1.1", own(), "Transfer-Encoding: chunked"),
    "two lengths": request("POST /v1/messages HTTP/1.1", own(), "Content-Length: 5"),
    "a list of lengths": request("POST /v1/messages HTTP/1.1", f"Content-Length: {len(BODY)}, 5"),
    "a signed length": request("POST /v1/messages HTTP/1.1", f"Content-Length: +{len(BODY)}"),
    "an odd coding": request("POST /v1/messages HTTP/1.1", "Transfer-Encoding: xchunked"),
    "a coding that is hidden": request("POST /v1/messages HTTP/1.1", own(), "Transfer-Encoding : chunked"),
    "a folded header": request("POST /v1/messages HTTP/1.1", own(), "X-A: b", "  Transfer-Encoding: chunked"),
    "chunks of no size": request("POST /v1/messages HTTP/1.1", "Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n"),
    "a negative chunk": request("POST /v1/messages HTTP/1.1", "Transfer-Encoding: chunked", body=b"-1\r\n{}\r\n0\r\n"),
    "gzip": request("POST /v1/messages HTTP/1.1", own(), "Content-Encoding: gzip"),
    "a newline alone": BODY.join([b"POST /v1/messages HTTP/1.1\nHost: x\nContent-Length: 2\n\n", b""]),
    "a NUL in a header": request("POST /v1/messages HTTP/1.1", own(), "X-A: \0"),
    "a body too long": request("POST /v1/messages HTTP/1.1", "Content-Length: 999999999"),
    "nonsense": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_no_odd_framing_reaches_a_provider(place: tuple[Provider, Running], name: str) -> None:
    far, made = place
    with sent(far) as found:
        answer = raw(made, FRAMES[name])
    assert found == []
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    honest(made)


def test_a_request_hidden_in_another_is_a_request_of_its_own(place: tuple[Provider, Running]) -> None:
    """The client's chunks are taken apart here, so the provider never sees their framing."""
    far, made = place
    inner = b"POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
    chunks = b"%x\r\n%s\r\n0\r\nX-Trailer: evil\r\n\r\n" % (len(BODY), BODY)
    head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with sent(far) as found:
        answer = raw(made, head + chunks + inner)
    assert [asked.target for asked in found] == ["/v1/messages"]
    assert "transfer-encoding" not in found[0].headers
    assert b" 404 " in answer
    assert b"evil" not in str(found).encode()


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"claude-opus-4-8","model":"claude-haiku-4-5","max_tokens":9,"messages":[]}',
        b'{"model":"claude-haiku-4-5","max_tokens":9,"messages":[],"\\u006dodel":"claude-opus-4-8"}',
        b'{"model":"claude-haiku-4-5","max_tokens":NaN,"messages":[]}',
        b'{"model":"claude-haiku-4-5","max_tokens":9,"messages":' + b"[" * 90_000 + b"]" * 90_000 + b"}",
        b'{"model":"claude-haiku-4-5","max_tokens":1e400,"messages":[]}',
        b'{"model":"claude-haiku-4-5","max_tokens":9,"messages":[]}{}',
        b'{"model":"claude-haiku-4-5\\u0000","max_tokens":9,"messages":[]}',
        '{"model":"claude-haiku-4\u20115","max_tokens":9,"messages":[]}'.encode(),
        '{"model":"\u0441laude-haiku-4-5","max_tokens":9,"messages":[]}'.encode(),
        '{"model":"claude-haiku-4-5","max_tokens":9,"messages":[]}'.encode("utf-16"),
        b'[{"model":"claude-haiku-4-5"}]',
        b"model=claude-haiku-4-5",
        b"x" * 300_000,
    ],
)
def test_a_body_that_could_be_read_in_two_ways_reaches_no_provider(
    place: tuple[Provider, Running], body: bytes
) -> None:
    far, made = place
    with sent(far) as found:
        status, _, answer = ask(made, "/v1/messages", body)
    assert found == []
    assert status in {400, 404, 413}
    assert json.loads(answer)["type"] == "error"
    honest(made)


URL = "https://192.0.2.1/?leak=1"
INSIDE: list[Any] = [
    {"type": "image", "source": {"type": "url", "url": URL}},
    {"type": "document", "source": {"type": "url", "url": URL}},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {"type": "url", "url": URL}}]},
    {"type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {"url": URL}},
    {"type": "container_upload", "file_id": "f"},
]


@pytest.mark.parametrize("block", INSIDE)
def test_no_block_makes_a_provider_fetch(place: tuple[Provider, Running], block: Any) -> None:
    far, made = place
    with sent(far) as found:
        status, _, answer = ask(made, "/v1/messages", message(messages=[{"role": "user", "content": [block]}]))
    assert (found, status) == ([], 400)
    assert b"192.0.2.1" not in answer


def test_what_only_looks_like_a_tool_is_data(place: tuple[Provider, Running]) -> None:
    """A tool's own input and schema are the model's words: they pass whole, whatever they are called."""
    far, made = place
    odd = {"type": "url", "url": URL, "file_id": "f", "mcp_servers": [{"url": URL}]}
    asked = message(
        tools=[{"name": "fetch", "input_schema": {"type": "object", "properties": odd}}],
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "fetch", "input": odd}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": json.dumps(odd)}]},
        ],
    )
    with sent(far) as found:
        assert ask(made, "/v1/messages", asked)[0] == 200
    assert found[0].json == {**asked, "service_tier": "standard_only"}


def test_headers_of_a_client_decide_nothing(place: tuple[Provider, Running]) -> None:
    far, made = place
    evil = {
        "authorization": "Bearer evil", "x_api_key": "evil", "anthropic_version": "evil", "anthropic_beta": "evil-2026",
        "x_forwarded_for": "evil", "forwarded": "host=evil", "te": "trailers", "x_http_method_override": "DELETE",
        "accept_encoding": "br", "idempotency_key": "evil", "anthropic_dangerous_direct_browser_access": "true",
        "upgrade": "evil", "via": "evil", "range": "bytes=0-1", "host": "evil",
    }  # fmt: skip
    with sent(far) as found:
        status, headers, _ = ask(made, "/v1/messages", message(), **evil)
    assert status == 200
    assert "evil" not in str(found[0].headers)
    assert found[0].headers["x-api-key"] == KEY
    assert found[0].headers["anthropic-version"] == "2023-06-01"
    assert KEY not in str(headers)


def test_refusals_are_recorded_but_never_fill_the_disk() -> None:
    with provider() as far, running(far.address, refused=5) as made:
        for _ in range(20):
            ask(made, "/v1/files", {"x": "y" * 1000})
        declined = [event for event in events(made.record) if isinstance(event, Declined)]
        assert len(declined) == 5
        assert len(far.asked) == 0
        assert made.record.stat().st_size < 5000


def test_many_hostile_clients_at_once_leave_the_gateway_whole(place: tuple[Provider, Running]) -> None:
    far, made = place

    def rush(frames: list[bytes]) -> None:
        for frame in frames:
            raw(made, frame)

    frames = [*FRAMES.values(), *(request(line, own()) for line in LINES)]
    threads = [threading.Thread(target=rush, args=(frames,)) for _ in range(6)]
    with sent(far) as found:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == []
    honest(made)
    assert made.account().open == 0


def test_an_agent_that_asks_on_after_its_budget_fills_no_disk() -> None:
    with provider(Turn(text="told")) as far, running(far.address, usd=0.008, refused=2) as made:
        assert [ask(made, "/v1/messages", message(max_tokens=5000))[0] for _ in range(3)] == [402] * 3
        assert ask(made, "/v1/messages", message())[0] == 200
        assert [ask(made, "/v1/messages", message(max_tokens=5000))[0] for _ in range(3)] == [402] * 3
        found = list(events(made.record))
        assert len([event for event in found if isinstance(event, Declined)]) == 3
        assert account(made.record).last == "budget"
