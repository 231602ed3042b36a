"""How calls end: each failure in its class, streams that break, clients and gateways that go away, and the bill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest

from programsmith.errors import InputError, PrerequisiteError
from programsmith.gateway.record import Declined, Opened, Usage, account, events
from programsmith.gateway.start import Running, Wanted, gateway
from tests.samples.gateways import (
    HAIKU,
    HELLO,
    KEYS,
    Connection,
    ask,
    closed,
    message,
    opened,
    rules,
    running,
    started,
    streamed,
    until,
    wish,
)
from tests.samples.provider import KEY, Turn, provider

ROOT = Path(__file__).parents[2]


FAILING = {
    "auth": (401, {"error": {"type": "authentication_error", "message": f"bad {KEY}"}}, 401, "authentication_error", 1),
    "rate_limit": (429, {"error": {"type": "rate_limit_error", "message": "slow"}}, 429, "rate_limit_error", 3),
    "overload": (529, {"error": {"type": "overloaded_error", "message": "busy"}}, 503, "overloaded_error", 3),
    "context_length": (
        400,
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}},
        400,
        "invalid_request_error",
        1,
    ),
    "refusal": (400, {"error": {"code": "content_filter", "message": "no"}}, 400, "invalid_request_error", 1),
    "invalid": (422, {"error": {"message": "bad role"}}, 422, "invalid_request_error", 1),
    "network": (302, b"", 502, "api_error", 3),
}


@pytest.mark.parametrize("name", FAILING)
def test_each_failure_is_named_told_and_costs_nothing(name: str) -> None:
    status, error, told, kind, tries = FAILING[name]
    turn = Turn(status=status, error=error, headers={"location": "http://192.0.2.1/"} if status == 302 else {})
    with provider(turn) as far, running(far.address) as made:
        got, headers, answer = ask(made, *HELLO["anthropic"])
        assert (got, json.loads(answer)["error"]["type"]) == (told, kind)
        assert headers["content-type"] == "application/json"
        assert KEY.encode() not in answer
        assert len(far.asked) == tries
        found = made.account()
        assert (found.last, found.usd, found.ends) == (name, 0, {name: 1})


def test_an_overload_that_passes_is_not_seen_by_the_client() -> None:
    busy = Turn(status=529, error={"error": {"type": "overloaded_error", "message": "busy"}})
    with provider(busy, busy, Turn(given=7)) as far, running(far.address) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 200
        assert (len(far.asked), closed(made)[0].attempts, made.account().tokens.output) == (3, 3, 7)


@pytest.mark.parametrize("after", ["600", "Wed, 30 Dec 2099 12:00:00 GMT"])
def test_a_provider_that_asks_for_a_long_pause_is_not_asked_again(after: str) -> None:
    turn = Turn(status=429, error={"error": {"message": "slow"}}, headers={"retry-after": after})
    with provider(turn) as far, running(far.address) as made:
        status, headers, _ = ask(made, *HELLO["chat"])
        assert (status, len(far.asked)) == (429, 1)
        assert int(headers["retry-after"]) >= 600


def test_a_short_pause_is_kept() -> None:
    turn = Turn(status=429, error={"error": {"message": "slow"}}, headers={"retry-after": "0.5"})
    with provider(turn, Turn()) as far, running(far.address) as made:
        began = time.monotonic()
        assert ask(made, *HELLO["chat"])[0] == 200
        assert (len(far.asked), time.monotonic() - began >= 0.5) == (2, True)


def test_a_provider_that_is_not_there_is_a_network_failure() -> None:
    with running("http://127.0.0.1:9") as made:
        status, _, answer = ask(made, *HELLO["anthropic"])
        assert (status, json.loads(answer)["error"]["type"]) == (502, "api_error")
        found = closed(made)[0]
        assert (found.end, found.usage, found.usd, found.attempts) == ("network", Usage.NONE, "0", 3)


@pytest.mark.parametrize(("cut", "usage"), [(0, Usage.ASSUMED), (3, Usage.SEEN)])
def test_a_stream_that_breaks_off_is_broken_for_the_client_and_costs_the_most(cut: int, usage: Usage) -> None:
    with provider(Turn(taken=100, given=7, cut=cut)) as far, running(far.address) as made:
        path, body = streamed("anthropic")
        with pytest.raises((OSError, Exception)) as broken:
            ask(made, path, body)
        assert type(broken.value).__name__ in {"IncompleteRead", "ConnectionResetError", "RemoteDisconnected"}
        until(lambda: bool(closed(made)))
        found, bound = closed(made)[0], Decimal(opened(made)[0].usd)
        assert (found.end, found.usage, found.attempts, len(far.asked)) == ("network", usage, 1, 1)
        seen = Decimal(100 + 5 * 100) / 1_000_000
        assert Decimal(found.usd) == (bound if usage is Usage.ASSUMED else seen)


@pytest.mark.parametrize(
    ("protocol", "last"), [("anthropic", b"message_stop"), ("chat", b"[DONE]"), ("responses", b"response.completed")]
)
def test_a_call_is_closed_before_the_client_reads_the_last_event(protocol: str, last: bytes) -> None:
    """A client may go on at that event: what it then holds or reads must not depend on how fast it is."""
    more = threading.Event()
    with provider(Turn(taken=100, given=7, linger=more)) as far, running(far.address, bodies=True) as made:
        connection, (path, body) = Connection(made.socket), streamed(protocol)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer, seen = connection.getresponse(), b""
        while last not in seen:
            seen += answer.read1(65536)
        found = closed(made)
        more.set()
        seen += answer.read()
        connection.close()
        assert [(call.end, call.usage, call.tokens.output) for call in found] == [("ok", Usage.FINAL, 7)]
        assert closed(made) == found
        kept = made.record.parent / "bodies" / str(found[0].answer)
        assert last in kept.read_bytes()


def test_a_count_of_tokens_hides_no_failure_before_it() -> None:
    """Nobody's model is asked by it, so it says nothing of how the agent fared."""
    slow = Turn(status=429, error={"error": {"type": "rate_limit_error", "message": "m"}})
    with provider(slow, slow, slow, Turn()) as far, running(far.address) as made:
        assert ask(made, "/v1/messages", message())[0] == 429
        counted = {name: value for name, value in message().items() if name != "max_tokens"}
        assert ask(made, "/v1/messages/count_tokens", counted)[0] == 200
        assert (len(far.asked), made.account().last, made.account().told) == (4, "rate_limit", "rate_limit")


def test_an_answer_that_tells_no_tokens_costs_its_bound() -> None:
    with provider(Turn(silent=True)) as far, running(far.address) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 200
        assert ask(made, *streamed("anthropic"))[0] == 200
        assert [event.usage for event in closed(made)] == [Usage.ASSUMED] * 2
        assert made.account().usd == sum(Decimal(call.usd) for call in opened(made))
        assert len(far.asked) == 2


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b'"x"', b"[" * 100_000])
def test_an_answer_that_is_no_json_object_is_a_network_failure(raw: bytes) -> None:
    with provider(Turn(raw=raw)) as far, running(far.address) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 502
        assert (len(far.asked), closed(made)[0].usage) == (1, Usage.ASSUMED)


def test_an_answer_larger_than_allowed_is_none() -> None:
    with provider(Turn(text="x" * 5000)) as far, running(far.address, answer_bytes=4000) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 502
        assert len(far.asked) == 1


def test_an_error_inside_a_stream_ends_the_call_so() -> None:
    raw = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n'
    with provider(Turn(raw=raw, kind="text/event-stream")) as far, running(far.address) as made:
        status, _, answer = ask(made, *streamed("anthropic"))
        assert (status, answer) == (200, raw)
        assert (made.account().last, len(far.asked)) == ("overload", 1)


def test_a_model_that_declines_is_paid_for_and_named() -> None:
    with provider(Turn(stop="refusal")) as far, running(far.address) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 200
        assert (made.account().last, made.account().tokens.output, len(far.asked)) == ("refusal", 5, 1)


def test_a_client_that_goes_away_ends_the_call_at_the_provider() -> None:
    with provider(Turn(taken=100, text="x" * 10_000, endless=True)) as far, running(far.address) as made:
        path, body = streamed("anthropic")
        connection = Connection(made.socket)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        connection.getresponse().read1(100)
        connection.close()
        assert far.gone.wait(20)
        until(lambda: bool(closed(made)))
        found = closed(made)[0]
        assert (found.end, found.usage) == ("cancelled", Usage.SEEN)


def test_a_client_that_goes_away_before_the_answer_began_ends_the_call() -> None:
    gate = threading.Event()
    with provider(Turn(gate=gate)) as far, running(far.address) as made:
        connection = Connection(made.socket)
        connection.request("POST", "/v1/messages", json.dumps(message()), {"content-type": "application/json"})
        until(lambda: len(far.asked) == 1)
        connection.close()
        until(lambda: bool(closed(made)))
        gate.set()
        assert (closed(made)[0].end, closed(made)[0].usage) == ("cancelled", Usage.ASSUMED)


def test_a_client_that_does_not_read_stops_the_provider() -> None:
    with provider(Turn(text="x" * 100_000, endless=True)) as far, running(far.address) as made:
        path, body = streamed("anthropic")
        connection = Connection(made.socket)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        connection.getresponse()
        still = -1
        while still != far.sent:
            still = far.sent
            time.sleep(0.3)
        assert far.sent < 200, "what is in buffers, and no more"
        connection.close()
        assert far.gone.wait(20)


def test_a_fault_of_the_gateway_is_told_and_recorded_as_its_own(tmp_path: Path) -> None:
    """Bodies that cannot be kept: the call is not made, costs nothing, and its trial is none."""
    wanted = wish(tmp_path, 1.0, (HAIKU,), None, bodies=True)
    with provider() as far, gateway(wanted, rules(far.address), KEYS) as made:
        assert ask(made, "/v1/messages", message())[0] == 200
        shutil.rmtree(tmp_path / "bodies")
        assert [ask(made, "/v1/messages", message())[0] for _ in range(3)] == [500] * 3
        found, seen = made.account(), list(events(made.record))
        assert (found.last, found.calls, found.open, len(far.asked)) == ("fault", 1, 0, 1)
        assert [e.why for e in seen if isinstance(e, Declined)] == ["fault"]
        (tmp_path / "bodies").mkdir()
        assert ask(made, "/v1/messages", message())[0] == 200
        assert made.account().last == "ok"


def test_bodies_are_kept_by_content_without_the_key() -> None:
    with provider(Turn(text=f"the key is {KEY}")) as far, running(far.address, bodies=True) as made:
        _, _, answer = ask(made, "/v1/messages", message(system=f"guess {KEY}"))
        assert KEY.encode() not in answer
        assert b"the key is [redacted]" in answer
        ask(made, "/v1/messages", message(system=f"guess {KEY}", stream=True))
        kept = {path.name: path.read_bytes() for path in (made.record.parent / "bodies").iterdir()}
        names = [*(call.request for call in opened(made)), *(event.answer for event in closed(made))]
        assert set(names) == set(kept)
        assert len(far.asked) == 2
        assert all(KEY.encode() not in body for body in [*kept.values(), made.record.read_bytes()])


def test_the_key_is_in_no_argument_no_environment_and_no_file(tmp_path: Path) -> None:
    with provider() as far, started(far.address, tmp_path) as made:
        ask(made, *HELLO["anthropic"])
        process = Path(f"/proc/{made.pid}")
        assert b"programsmith.gateway" in (process / "cmdline").read_bytes()
        assert KEY.encode() not in (process / "cmdline").read_bytes()
        if os.geteuid() == 0:
            assert KEY.encode() not in (process / "environ").read_bytes()
        else:
            with pytest.raises(PermissionError):
                (process / "environ").read_bytes()
        assert all(KEY.encode() not in path.read_bytes() for path in made.record.parent.rglob("*") if path.is_file())
        assert (made.socket.stat().st_mode & 0o777, made.socket.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        assert len(far.asked) == 1


def test_what_cannot_be_is_said_before_anything_starts(tmp_path: Path) -> None:
    wanted = Wanted(models=(HAIKU,), usd=1.0, folder=tmp_path, record=tmp_path / "c")
    with pytest.raises(PrerequisiteError, match="ANTHROPIC_API_KEY: no key"), gateway(wanted, rules(), {}):
        pass
    deep = tmp_path / ("d" * 100)
    wanted = Wanted(models=(HAIKU,), usd=1.0, folder=deep, record=tmp_path / "c")
    with pytest.raises(InputError, match="use a shorter folder"), gateway(wanted, rules(), KEYS):
        pass
    assert not deep.exists()


def test_a_gateway_that_starts_again_goes_on_with_what_was_spent(tmp_path: Path) -> None:
    with provider(Turn(taken=1000, given=2000)) as far:
        for _ in range(2):
            with started(far.address, tmp_path, usd=0.04) as made:
                while ask(made, "/v1/messages", message(max_tokens=2000))[0] == 200:
                    pass
        assert made.account().usd == Decimal("0.011") * len(far.asked) <= Decimal("0.04")
        assert not made.socket.exists()


STARTER = """
import os, sys, time
from pathlib import Path
from tests.samples.gateways import started
with started(sys.argv[1], Path(sys.argv[2])) as made:
    copy = os.fork()
    if copy:
        print(made.pid, copy, flush=True)
    time.sleep(600)
"""


def test_it_ends_with_whoever_started_it_and_an_agent_killed_after_three_calls_is_billed_for_three(
    tmp_path: Path,
) -> None:
    pause = threading.Event()
    done, half = Turn(taken=1000, given=200), Turn(taken=1000, given=200, pause=pause)
    with provider(done, done, half) as far:
        starter = subprocess.Popen(
            [sys.executable, "-c", STARTER, far.address, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT
        )
        assert starter.stdout is not None
        pid, copy = map(int, starter.stdout.readline().split())
        made = Running(socket=tmp_path / "gateway.sock", record=tmp_path / "calls.jsonl", pid=pid)
        for _ in range(2):
            assert ask(made, "/v1/messages", message(max_tokens=2000))[0] == 200
        connection = Connection(made.socket)
        body = json.dumps(message(max_tokens=2000, stream=True))
        connection.request("POST", "/v1/messages", body, {"content-type": "application/json"})
        connection.getresponse().read1(1000)
        starter.send_signal(signal.SIGKILL)
        starter.wait()
        starter.stdout.close()
        until(lambda: not Path(f"/proc/{pid}").exists())
        os.kill(copy, signal.SIGKILL)
        connection.close()
        pause.set()
        found = account(made.record)
        whole, broken = Decimal("0.002"), Decimal("0.011")
        assert (found.calls, found.open, found.usd) == (3, 0, 2 * whole + broken)


def test_a_gateway_that_is_killed_leaves_a_record_that_bills_what_was_open(tmp_path: Path) -> None:
    gate = threading.Event()
    with provider(Turn(taken=1000, given=200), Turn(gate=gate)) as far, started(far.address, tmp_path) as made:
        assert ask(made, *HELLO["anthropic"])[0] == 200
        connection = Connection(made.socket)
        connection.request("POST", "/v1/messages", json.dumps(message()), {"content-type": "application/json"})
        until(lambda: len(far.asked) == 2)
        os.kill(made.pid, signal.SIGKILL)
        with pytest.raises(OSError):  # noqa: PT011 - however the connection ends
            connection.getresponse()
        connection.close()
        gate.set()
        calls = [event for event in events(made.record) if isinstance(event, Opened)]
        found = made.account()
        assert (found.calls, found.open) == (2, 1)
        assert found.usd == Decimal("0.002") + Decimal(calls[1].usd)
