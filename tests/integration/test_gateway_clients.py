"""The providers' own clients through the gateway: conversations with a tool, streamed and not, and their errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import pytest

from tests.samples.gateways import FLASH, GPT, HAIKU, running
from tests.samples.provider import KEY, Provider, Turn, provider

HOW = "run: pip install 'programsmith[models]'"
TOOL = Turn(tool="run", arguments={"command": "ls"}, taken=100, given=20)
DONE = Turn(text="all done", taken=150, given=10)
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def _spliced(source: Any, target: Any) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
    except OSError:
        pass
    finally:
        for end in (source, target):
            _shut(end)


def _shut(end: Any) -> None:
    import socket

    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def port(path: Path) -> Iterator[str]:
    """A loopback address that leads to the unix socket, as the relay of an agent's sandbox does."""
    import socket

    class Relay(BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as inner:
                inner.connect(str(path))
                back = threading.Thread(target=_spliced, args=(inner, self.request))
                back.start()
                _spliced(self.request, inner)
                back.join()

    server = ThreadingTCPServer(("127.0.0.1", 0), Relay)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def between(*turns: Turn, **terms: Any) -> Iterator[tuple[Provider, Any, str]]:
    with provider(*turns) as far, running(far.address, **terms) as made, port(made.socket) as address:
        yield far, made, address


@pytest.mark.parametrize("stream", [False, True])
def test_anthropics_client_talks_with_a_tool(stream: bool) -> None:
    anthropic = pytest.importorskip("anthropic", reason=HOW)
    with between(TOOL, DONE) as (far, made, address):
        client = anthropic.Anthropic(base_url=address, api_key="dummy", max_retries=0)
        tools = [{"name": "run", "description": "d", "input_schema": SCHEMA}]
        messages: list[Any] = [{"role": "user", "content": "hi"}]

        def turn() -> Any:
            asked = {"model": "claude-haiku-4-5", "max_tokens": 1000, "messages": messages, "tools": tools}
            if not stream:
                return client.messages.create(**asked)
            with client.messages.stream(**asked) as events:
                return events.get_final_message()

        first = turn()
        use = first.content[0]
        assert (use.name, use.input, first.stop_reason) == ("run", {"command": "ls"}, "tool_use")
        messages += [
            {"role": "assistant", "content": [use.model_dump(exclude_none=True)]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "a.txt"}]},
        ]
        assert turn().content[0].text == "all done"
        assert far.asked[1].json["messages"][2]["content"][0]["content"] == "a.txt"
        assert client.messages.count_tokens(model="claude-haiku-4-5", messages=messages).input_tokens == 150
        assert {asked.headers["x-api-key"] for asked in far.asked} == {KEY}
        usd = Decimal(250 + 30 * 5) / 1_000_000
        assert (made.account().usd, made.account().last) == (usd, "ok")
        client.close()


@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_talks_by_responses(stream: bool) -> None:
    openai = pytest.importorskip("openai", reason=HOW)
    with between(TOOL, DONE) as (far, made, address):
        client = openai.OpenAI(base_url=address + "/v1", api_key="dummy", max_retries=0)
        tools = [{"type": "function", "name": "run", "parameters": SCHEMA, "strict": False}, {"type": "web_search"}]
        items: list[Any] = [{"role": "user", "content": "hi"}]

        def turn() -> Any:
            asked = {"model": "gpt-5.4-mini", "input": items, "tools": tools}
            if not stream:
                return client.responses.create(**asked)
            return list(client.responses.create(**asked, stream=True))[-1].response

        call = turn().output[0]
        assert (call.name, json.loads(call.arguments)) == ("run", {"command": "ls"})
        items += [
            {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
            {"type": "function_call_output", "call_id": call.call_id, "output": "a.txt"},
        ]
        assert turn().output_text == "all done"
        assert [tool["type"] for tool in far.asked[1].json["tools"]] == ["function"]
        assert far.asked[1].headers["authorization"] == f"Bearer {KEY}"
        assert made.account().tokens.output == 30
        client.close()


@pytest.mark.parametrize("stream", [False, True])
def test_openais_client_talks_by_chat(stream: bool) -> None:
    openai = pytest.importorskip("openai", reason=HOW)
    with between(TOOL, DONE) as (far, made, address):
        client = openai.OpenAI(base_url=address + "/v1", api_key="dummy", max_retries=0)
        tools = [{"type": "function", "function": {"name": "run", "parameters": SCHEMA}}]
        messages: list[Any] = [{"role": "user", "content": "hi"}]

        def turn() -> Any:
            asked = {"model": "gpt-5.4-mini", "messages": messages, "tools": tools}
            if not stream:
                return client.chat.completions.create(**asked).choices[0].message
            pieces = [chunk.choices[0].delta for chunk in client.chat.completions.create(**asked, stream=True)]
            return next(piece for piece in pieces if piece.content or piece.tool_calls)

        call = turn().tool_calls[0]
        assert (call.function.name, json.loads(call.function.arguments)) == ("run", {"command": "ls"})
        asked = {"id": call.id, "type": "function", "function": {"name": "run", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": call.id, "content": "a.txt"},
        ]
        assert turn().content == "all done"
        assert far.asked[1].json["messages"] == messages
        assert (made.account().tokens.taken, made.account().tokens.output) == (250, 30)
        client.close()


@pytest.mark.parametrize("stream", [False, True])
def test_geminis_client_talks_with_a_tool(stream: bool) -> None:
    genai = pytest.importorskip("google.genai", reason=HOW)
    with between(TOOL, DONE) as (far, made, address):
        client = genai.Client(api_key="dummy", http_options={"base_url": address})
        config = {"tools": [{"function_declarations": [{"name": "run", "parameters_json_schema": SCHEMA}]}]}

        def turn(text: str) -> Any:
            asked = {"model": "gemini-2.5-flash", "contents": text, "config": config}
            if not stream:
                return client.models.generate_content(**asked)
            return next(iter(list(client.models.generate_content_stream(**asked))))

        call = turn("hi").candidates[0].content.parts[0].function_call
        assert (call.name, call.args) == ("run", {"command": "ls"})
        assert turn("so?").candidates[0].content.parts[0].text == "all done"
        assert {asked.headers["x-goog-api-key"] for asked in far.asked} == {KEY}
        assert (made.account().tokens.output, made.account().last) == (30, "ok")
        client.close()


def test_anthropics_client_understands_each_refusal() -> None:
    anthropic = pytest.importorskip("anthropic", reason=HOW)
    slow = {"error": {"type": "rate_limit_error", "message": "m"}}
    limited = Turn(status=429, error=slow, headers={"retry-after": "99"})
    with between(Turn(), limited, usd=0.05, models=(HAIKU,)) as (far, _, address):
        client = anthropic.Anthropic(base_url=address, api_key="dummy", max_retries=0)

        def ask(**more: Any) -> Any:
            said = [{"role": "user", "content": "hi"}]
            return client.messages.create(**{"model": "claude-haiku-4-5", "max_tokens": 9, "messages": said, **more})

        assert ask().content[0].text == "done"
        with pytest.raises(anthropic.NotFoundError, match="not a model of this trial"):
            ask(model="claude-opus-4-8")
        url = {"type": "image", "source": {"type": "url", "url": "https://192.0.2.1/x.png"}}
        with pytest.raises(anthropic.BadRequestError, match="does not pass"):
            ask(messages=[{"role": "user", "content": [url]}])
        with pytest.raises(anthropic.RateLimitError) as limit:
            ask()
        assert limit.value.response.headers["retry-after"] == "99"
        with pytest.raises(anthropic.APIStatusError) as spent:
            ask(system="x" * 200_000)
        assert (spent.value.status_code, spent.value.body["error"]["type"]) == (402, "billing_error")
        assert len(far.asked) == 2
        client.close()


def test_openais_client_understands_each_refusal() -> None:
    openai = pytest.importorskip("openai", reason=HOW)
    with between(usd=0.02, models=(GPT,)) as (far, _, address):
        client = openai.OpenAI(base_url=address + "/v1", api_key="dummy", max_retries=0)
        with pytest.raises(openai.NotFoundError, match="not a model of this trial"):
            client.responses.create(model="gpt-9", input="hi")
        with pytest.raises(openai.BadRequestError, match="previous_response_id"):
            client.responses.create(model="gpt-5.4-mini", input="hi", previous_response_id="r")
        with pytest.raises(openai.APIStatusError) as spent:
            client.responses.create(model="gpt-5.4-mini", input="x" * 60_000)
        assert (spent.value.status_code, spent.value.code) == (402, "insufficient_quota")
        with pytest.raises(openai.NotFoundError):
            client.models.list()
        assert far.asked == []
        client.close()


def test_geminis_client_understands_each_refusal() -> None:
    genai = pytest.importorskip("google.genai", reason=HOW)
    errors = pytest.importorskip("google.genai.errors", reason=HOW)
    with between(usd=0.01, models=(FLASH,)) as (far, _, address):
        client = genai.Client(api_key="dummy", http_options={"base_url": address})
        with pytest.raises(errors.ClientError) as other:
            client.models.generate_content(model="gemini-2.5-pro", contents="hi")
        assert (other.value.code, other.value.status) == (404, "NOT_FOUND")
        with pytest.raises(errors.ClientError) as spent:
            client.models.generate_content(model="gemini-2.5-flash", contents="x" * 60_000)
        assert (spent.value.code, spent.value.status) == (402, "FAILED_PRECONDITION")
        assert far.asked == []
        client.close()
