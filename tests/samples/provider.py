"""A provider of models for tests: it speaks the four protocols on a loopback port and plays turns in order.

In: turns, a key. Out: what it was sent. Each request takes the next turn: text, a tool call, or a failure of some kind.
It knows nothing of the gateway, checks the key as providers do, and counts what it says it counts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-real-0123456789abcdef"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer. `cut` breaks a stream after so many events, `gate` is waited for before the first byte."""

    text: str = "done"
    tool: str | None = None
    id: str = ""  # of the tool call
    arguments: Mapping[str, Any] = field(default_factory=dict)
    taken: int = 10
    cached: int = 0
    written: int = 0
    given: int = 5
    stop: str | None = None
    status: int = 200
    error: Mapping[str, Any] | bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    silent: bool = False  # no usage is told
    gate: threading.Event | None = None
    raw: bytes | None = None  # a body instead
    kind: str = "application/json"
    pause: threading.Event | None = None  # waited for after the first event of a stream
    linger: threading.Event | None = None  # waited for after the last
    endless: bool = False  # a stream whose text never ends


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Provider:
    """The server. `asked` is what it saw, `gone` is set when a client went away while it answered."""

    def __init__(self, turns: list[Turn]) -> None:
        self.turns, self.asked, self.last = list(turns), [], turns[-1] if turns else Turn()
        self.lock, self.gone = threading.Lock(), threading.Event()
        self.sent = 0
        outer = self

        class Handler(_Handler):
            provider = outer

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def take(self, asked: Asked) -> Turn:
        with self.lock:
            self.asked.append(asked)
            return self.turns.pop(0) if self.turns else self.last


@contextmanager
def provider(*turns: Turn) -> Iterator[Provider]:
    """Run a provider that plays these turns, the last of them for ever."""
    made = Provider(list(turns) or [Turn()])
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        turn = self.provider.take(Asked(method=self.command, target=self.path, headers=headers, body=body))
        if turn.gate:
            turn.gate.wait(30)
        given = headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("authorization", "")
        if given.removeprefix("Bearer ") != KEY:
            return self._say(401, {"error": {"type": "authentication_error", "message": f"bad key {given}"}}, {})
        if turn.raw is not None:
            return self._body(turn.status, turn.raw, turn.headers, turn.kind)
        if turn.status != 200:
            return self._say(turn.status, turn.error, turn.headers)
        path = self.path.partition("?")[0]
        asked = json.loads(body)
        if path.endswith(("count_tokens", ":countTokens")):
            return self._say(200, {"input_tokens": turn.taken, "totalTokens": turn.taken}, {})
        speak = next(of for end, of in SPEAKS if path.endswith(end))
        whole, events = speak(asked, turn)
        if asked.get("stream") is True or path.endswith(":streamGenerateContent"):
            return self._stream(events, turn)
        return self._say(200, whole, turn.headers)

    def do_GET(self) -> None:
        self.do_POST()

    def _say(self, status: int, value: Any, headers: Mapping[str, str]) -> None:
        self._body(status, value if isinstance(value, bytes) else json.dumps(value).encode(), headers)

    def _body(self, status: int, raw: bytes, headers: Mapping[str, str], kind: str = "application/json") -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, events: list[Any], turn: Turn) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            for number, event in enumerate(_forever(events, turn)):
                if turn.cut == number:
                    return
                self._event(event)
                if number == 0 and turn.pause:
                    turn.pause.wait(30)
            if turn.linger:
                turn.linger.wait(30)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.provider.gone.set()

    def _event(self, event: Any) -> None:
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        data = event if isinstance(event, str) else json.dumps(event)
        raw = f"{name}data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()
        self.provider.sent += 1


def _forever(events: list[Any], turn: Turn) -> Iterator[Any]:
    if not turn.endless:
        yield from events
        return
    yield from events[:3]
    while True:
        yield events[2]


def anthropic(asked: Any, turn: Turn) -> tuple[Any, list[Any]]:
    usage = {
        "input_tokens": turn.taken,
        "cache_read_input_tokens": turn.cached,
        "cache_creation_input_tokens": turn.written,
        "output_tokens": turn.given,
    }
    block: dict[str, Any] = {"type": "text", "text": turn.text}
    start: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": turn.text}
    if turn.tool:
        block = {"type": "tool_use", "id": turn.id or "toolu_1", "name": turn.tool, "input": dict(turn.arguments)}
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    stop = turn.stop or ("tool_use" if turn.tool else "end_turn")
    whole = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "content": [block],
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    told = {} if turn.silent else {"usage": {"output_tokens": turn.given}}
    if turn.silent:
        del whole["usage"]
    began = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    if turn.silent:
        del began["usage"]
    return whole, [
        {"type": "message_start", "message": began},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, **told},
        {"type": "message_stop"},
    ]


def chat(asked: Any, turn: Turn) -> tuple[Any, list[Any]]:
    usage = {
        "prompt_tokens": turn.taken, "completion_tokens": turn.given, "total_tokens": turn.taken + turn.given,
        "prompt_tokens_details": {"cached_tokens": turn.cached},
    }  # fmt: skip
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.tool:
        call = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": turn.id or "c1", "type": "function", "function": call}],
        }
    stop = turn.stop or ("tool_calls" if turn.tool else "stop")
    base = {"id": "x", "created": 1, "model": asked["model"]}
    whole = {
        **base, "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage,
    }  # fmt: skip
    if turn.silent:
        del whole["usage"]
    delta = {**message, "tool_calls": [{**c, "index": 0} for c in message["tool_calls"]]} if turn.tool else message
    piece = {**base, "object": "chat.completion.chunk", "usage": None}
    events: list[Any] = [
        {**piece, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
    ]
    if (asked.get("stream_options") or {}).get("include_usage") and not turn.silent:
        events.append({**piece, "choices": [], "usage": usage})
    return whole, [*events, "[DONE]"]


def responses(asked: Any, turn: Turn) -> tuple[Any, list[Any]]:
    item: dict[str, Any] = {
        "type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
    }  # fmt: skip
    if turn.tool:
        item = {
            "type": "function_call", "id": "fc1", "call_id": turn.id or "c1", "name": turn.tool,
            "arguments": json.dumps(turn.arguments), "status": "completed",
        }  # fmt: skip
    usage = {
        "input_tokens": turn.taken, "output_tokens": turn.given, "total_tokens": turn.taken + turn.given,
        "input_tokens_details": {"cached_tokens": turn.cached, "cache_write_tokens": turn.written},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    whole = {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": asked["model"],
        "output": [item], "usage": usage, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True,
    }  # fmt: skip
    if turn.stop:
        whole |= {"status": "incomplete", "incomplete_details": {"reason": turn.stop}}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    return whole, [
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
        {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item},
        {"type": "response.completed", "sequence_number": 3, "response": whole},
    ]


def gemini(_asked: Any, turn: Turn) -> tuple[Any, list[Any]]:
    part: dict[str, Any] = {"text": turn.text}
    if turn.tool:
        part = {"functionCall": {"name": turn.tool, "args": dict(turn.arguments)}}
    usage = {
        "promptTokenCount": turn.taken, "candidatesTokenCount": turn.given - 2, "thoughtsTokenCount": 2,
        "cachedContentTokenCount": turn.cached, "totalTokenCount": turn.taken + turn.given,
    }  # fmt: skip
    content = {"role": "model", "parts": [part]}
    whole = {
        "candidates": [{"index": 0, "content": content, "finishReason": turn.stop or "STOP"}],
        "usageMetadata": usage, "modelVersion": "fake",
    }  # fmt: skip
    first = {"candidates": [{"index": 0, "content": content}], "usageMetadata": {**usage, "candidatesTokenCount": 0}}
    return whole, [
        first,
        {**whole, "candidates": [{**whole["candidates"][0], "content": {"role": "model", "parts": []}}]},
    ]


SPEAKS = (
    ("/messages", anthropic),
    ("/chat/completions", chat),
    ("/responses", responses),
    (":generateContent", gemini),
    (":streamGenerateContent", gemini),
)
