"""Gateways for tests: the real process, the packaged rules with providers on this machine, raw requests to it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import http.client
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from programsmith.gateway.record import Closed, Opened, events
from programsmith.gateway.serving import serving
from programsmith.gateway.start import RULES, Running, Wanted, gateway, handed
from programsmith.rulebook.load import Rulebook
from tests.samples.provider import KEY

HAIKU, GPT, FLASH = "anthropic/claude-haiku-4-5", "openai/gpt-5.4-mini", "google/gemini-2.5-flash"
MODELS = (HAIKU, GPT, FLASH)
KEYS = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY}
PREFIX = {"anthropic": "", "responses": "/v1", "chat": "/v1", "gemini": ""}


def rules(address: str = "http://127.0.0.1:9", **limits: Any) -> dict[str, Any]:
    """The packaged rules, their providers at `address`, some limits or tries changed."""
    book = Rulebook(None)
    made: dict[str, Any] = {name: copy.deepcopy(book.load(name)) for name in RULES}
    for row in made["models"]["providers"].values():
        row["speaks"] = {protocol: address + PREFIX[protocol] for protocol in row["speaks"]}
    tries = made["gateway"]["tries"]
    tries |= {"first_seconds": 0.01} | {name: limits.pop(name) for name in tuple(limits) if name in tries}
    made["gateway"]["limits"] |= limits
    return made


def wish(folder: Path, usd: float | None, models: tuple[str, ...], calls: int | None, *, bodies: bool) -> Wanted:
    kept = folder / "bodies" if bodies else None
    return Wanted(models=models, usd=usd, calls=calls, folder=folder, record=folder / "calls.jsonl", bodies=kept)


@contextmanager
def started(
    address: str, folder: Path, *, usd: float | None = 10.0, models: tuple[str, ...] = MODELS, **limits: Any
) -> Iterator[Running]:
    """The gateway's real process before the provider at `address`."""
    with gateway(wish(folder, usd, models, None, bodies=False), rules(address, **limits), KEYS) as made:
        yield made


@contextmanager
def running(
    address: str, *, usd: float | None = 10.0, models: tuple[str, ...] = MODELS, calls: int | None = None,
    bodies: bool = False, **limits: Any,
) -> Iterator[Running]:  # fmt: skip
    """The same gateway in a thread of the test, which costs no start of a process."""
    with tempfile.TemporaryDirectory(prefix="gw.") as short:
        wanted = wish(Path(short), usd, models, calls, bodies=bodies)
        given, up, said = handed(wanted, rules(address, **limits), KEYS), threading.Event(), []
        loop, stop = asyncio.new_event_loop(), asyncio.Event()
        serves = serving(given, stop, up.set, said.append)
        thread = threading.Thread(target=loop.run_until_complete, args=(serves,))
        thread.start()
        try:
            assert up.wait(30)
            yield Running(socket=Path(given["socket"]), record=wanted.record, pid=os.getpid())
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()
            assert said == []


class Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("gateway", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(str(self._path))


def ask(made: Running, path: str, body: Any, method: str = "POST", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one request."""
    connection = Connection(made.socket)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, raw, {"content-type": "application/json", **named})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def raw(made: Running, request: bytes) -> bytes:
    """What the gateway answers to these bytes, until it closes or falls silent. The client does not leave before."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(30)
        sock.connect(str(made.socket))
        found = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            sock.sendall(request)
            while piece := sock.recv(65536):
                found += piece
                sock.settimeout(1)
        return found


def message(**more: Any) -> dict[str, Any]:
    """A small Anthropic request."""
    return {"model": "claude-haiku-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}], **more}


def opened(made: Running) -> list[Opened]:
    """The calls of the record."""
    return [event for event in events(made.record) if isinstance(event, Opened)]


HELLO: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("/v1/messages", message()),
    "responses": ("/v1/responses", {"model": "gpt-5.4-mini", "input": "hi"}),
    "chat": ("/v1/chat/completions", {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}]}),
    "gemini": ("/v1beta/models/gemini-2.5-flash:generateContent", {"contents": [{"parts": [{"text": "hi"}]}]}),
}


def streamed(protocol: str) -> tuple[str, dict[str, Any]]:
    path, body = HELLO[protocol]
    if protocol == "gemini":
        return path.replace(":generate", ":streamGenerate") + "?alt=sse", body
    return path, {**body, "stream": True}


def closed(made: Running) -> list[Closed]:
    return [event for event in events(made.record) if isinstance(event, Closed)]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
