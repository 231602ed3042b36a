"""The agent's way to its model, whole: agent, relay, the real gateway, a provider; honest requests and hostile ones."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from programsmith.gateway.record import Declined, events
from tests.contract.pairs import BACKENDS, KINDS, Kind, begin, ended, pair
from tests.samples.gateways import HELLO, message, running, until
from tests.samples.provider import KEY, Provider, Turn, provider

SCRIPT = "ending.py"
JSON = {"content-type": "application/json"}
URL = {"type": "url", "url": "http://192.0.2.1/x.png"}
STRIPPED = {
    "web_search": {"type": "web_search_20250305", "name": "web_search"},
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "code_execution": {"type": "code_execution_20250825", "name": "code_execution"},
}
REFUSED: dict[str, list[Any]] = {
    "servers of tools": ["POST", "/v1/messages", message(mcp_servers=[{"type": "url", "url": "http://192.0.2.1"}])],
    "a container": ["POST", "/v1/messages", message(container="c")],
    "an image by address": [
        "POST", "/v1/messages", message(messages=[{"role": "user", "content": [{"type": "image", "source": URL}]}])
    ],
    "a search option": ["POST", "/v1/chat/completions", {**HELLO["chat"][1], "web_search_options": {"x": 1}}],
    "another model": ["POST", "/v1/messages", message(model="claude-opus-4-8")],
    "files": ["POST", "/v1/files", {}],
    "batches": ["POST", "/v1/messages/batches", {}],
    "a dotted path": ["POST", "/v1/..%2fv1/messages", message()],
    "an absolute address": ["POST", "http://192.0.2.1/v1/messages", message()],
    "another method": ["GET", "/v1/messages", {}],
    "a tunnel": ["CONNECT", "192.0.2.1:443", {}],
    "a key twice": ["POST", "/v1/messages", '{"model":"claude-haiku-4-5","model":"claude-opus-4-8","max_tokens":1}'],
    "two lengths": ["POST", "/v1/messages", message(), {"transfer-encoding": "chunked"}],
}  # fmt: skip


@pytest.fixture(params=BACKENDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=KINDS)
def any_kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


def asked(kind: Kind, folder: Path, gateway: Path, requests: list[list[Any]]) -> list[list[Any]]:
    """What the agent is answered."""
    given = []
    for method, path, body, *headers in requests:
        text = body if isinstance(body, str) else json.dumps(body)
        given.append([method, path, text, {**JSON, **(headers[0] if headers else {})}])
    with pair(kind, folder, gateway=gateway) as (opened, plan):
        how = ended(opened, plan, SCRIPT, "asks", json.dumps(given))
    assert how.agent.exit_code == 0, how.agent.stderr
    return json.loads(how.agent.stdout)  # type: ignore[no-any-return]


@pytest.mark.attack
def test_hostile_requests_of_the_agent_reach_no_provider(kind: Kind, tmp_path: Path) -> None:
    honest = [["POST", *HELLO[name]] for name in HELLO]
    with provider() as far, running(far.address) as gateway:
        said = asked(kind, tmp_path, gateway.socket, [*honest, *REFUSED.values(), honest[0]])
        refused = dict(zip(REFUSED, said[len(honest) : -1], strict=True))
        assert [status for status, _ in (*said[: len(honest)], said[-1])] == [200] * (len(honest) + 1)
        assert {name: status for name, (status, _) in refused.items() if status < 400} == {}
        assert len(far.asked) == len(honest) + 1
        assert len([e for e in events(gateway.record) if isinstance(e, Declined)]) >= len(REFUSED) - 2


@pytest.mark.attack
def test_tools_of_the_provider_and_headers_of_the_agent_do_not_pass(kind: Kind, tmp_path: Path) -> None:
    tool = {"name": "run", "input_schema": {"type": "object"}}
    body = message(tools=[tool, *STRIPPED.values()])
    headers = {"x-api-key": "own", "authorization": "Bearer own", "host": "evil", "anthropic-beta": "code-execution-1"}
    with provider() as far, running(far.address) as gateway:
        assert asked(kind, tmp_path, gateway.socket, [["POST", "/v1/messages", body, headers]])[0][0] == 200
        seen = far.asked[0]
    assert [one["name"] for one in seen.json["tools"]] == ["run"]
    assert seen.headers["x-api-key"] == KEY
    assert not {"own", "Bearer own", "evil", "code-execution-1"} & set(seen.headers.values())


def test_a_budget_that_is_spent_ends_the_calls(kind: Kind, tmp_path: Path) -> None:
    with provider() as far, running(far.address, calls=1) as gateway:
        said = asked(kind, tmp_path, gateway.socket, [["POST", *HELLO["anthropic"]]] * 2)
        assert ([status for status, _ in said], len(far.asked)) == ([200, 402], 1)


def test_a_stream_comes_piece_by_piece(any_kind: Kind, tmp_path: Path) -> None:
    pause = threading.Event()
    with (
        provider(Turn(text="streamed", pause=pause)) as far,
        running(far.address) as gateway,
        pair(any_kind, tmp_path, gateway=gateway.socket) as (opened, plan),
    ):
        agent = begin(opened, plan, SCRIPT, "streams")
        going_on = threading.Thread(target=_go_on, args=(far, pause))
        going_on.start()
        how = agent.wait()
        going_on.join()
    status, in_pieces, whole = json.loads(how.agent.stdout)
    assert (status, in_pieces) == (200, True)
    assert "streamed" in whole
    assert "message_stop" in whole


def _go_on(far: Provider, pause: threading.Event) -> None:
    """Let the provider go on once its first event is out."""
    try:
        until(lambda: far.sent >= 1)
    finally:
        pause.set()
