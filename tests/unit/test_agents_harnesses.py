"""How harnesses are started, and how what they tell is read; no harness runs here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents.base import AgentResult, AgentTask, Said, Told, Use
from programsmith.agents.bridge import PRIVATE, TREE, Ended
from programsmith.agents.harness import LEFT_FILES, STEPS_MOST, Harness
from programsmith.agents.registry import HARNESSES
from programsmith.agents.serving import Asks
from programsmith.agents.transcript import encode, trajectory
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.trial import Pair, Stop
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import hostile

BOOK = Rulebook(None)
LIMITS = Limits(cpu_seconds=1, wall_seconds=1, memory_bytes=1, pids=1, output_bytes=1, work_bytes=1, work_files=1)


def task(protocol: str) -> AgentTask:
    made: Any = None
    return AgentTask(
        sandbox=made,
        instruction="-do it",
        seed=0,
        limits=LIMITS,
        entry={},
        solution=tuple,
        asks=Asks(model="m-1", protocol=protocol),
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "vendor/x/bin/codex",
        "usr/lib/a/ld-linux-x86-64.so.2",
        "usr/lib/a/libc.so.6",
        "opt/python/bin/python3.11",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
def test_each_is_started_with_its_model_and_no_way_but_the_relay(harness: Harness, tree: Path) -> None:
    for protocol in BOOK.load("agents")["agents"][harness.name]["speaks"]:
        start = harness.start(tree, task(protocol))
        assert start.words[0].startswith(f"{TREE}/")
        assert "-do it" in start.words
        assert any("m-1" in word for word in start.words)
        everything = json.dumps([start.words, dict(start.environment), dict(start.files)])
        assert "http://127.0.0.1:8787" in everything
        assert everything.count("http") == everything.count("http://127.0.0.1:8787")
        homes = [v for v in start.environment.values() if v.startswith("/")]
        assert all(v.startswith(PRIVATE) for v in homes)
        assert not any(name.startswith(("/", "..")) for name in start.files)


CLAUDE = [
    {"type": "system", "subtype": "init"},
    {"type": "assistant", "message": {"id": "m1", "content": [{"type": "thinking", "thinking": "hm"}]}},
    {
        "type": "assistant",
        "message": {
            "id": "m1",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
    },
    {
        "type": "user",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a b"}]}]
        },
    },
    {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": "done"}]}},
    {
        "type": "result",
        "usage": {
            "input_tokens": 3,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 5,
            "output_tokens": 6,
        },
    },
]
CODEX = [
    {"type": "thread.started"},
    {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "hm"}},
    {
        "type": "item.completed",
        "item": {
            "id": "i1",
            "type": "command_execution",
            "command": "ls",
            "aggregated_output": "a b",
            "exit_code": 0,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "done"}},
    {"type": "turn.completed", "usage": {"input_tokens": 12, "cached_input_tokens": 4, "output_tokens": 6}},
]
GEMINI = [
    {"type": "init"},
    {"type": "message", "role": "user", "content": "do it"},
    {"type": "message", "role": "assistant", "content": "lo", "delta": True},
    {"type": "message", "role": "assistant", "content": "ok", "delta": True},
    {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t1", "parameters": {"command": "ls"}},
    {"type": "tool_result", "tool_id": "t1", "status": "success", "output": "a b"},
    {"type": "message", "role": "assistant", "content": "done", "delta": True},
    {"type": "result", "stats": {"total_tokens": 18, "input_tokens": 12, "output_tokens": 2}},
]
MINI = {
    "messages": [
        {"role": "system", "content": "s"},
        {
            "role": "assistant",
            "content": "look",
            "tool_calls": [{"id": "t1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
            "extra": {"response": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}},
        },
        {"role": "tool", "tool_call_id": "t1", "content": "a b"},
        {
            "role": "assistant",
            "content": "done",
            "extra": {"response": {"usage": {"prompt_tokens": 7, "completion_tokens": 4}}},
        },
    ]
}
TOLD = {
    "claude-code": (
        [
            Said(
                message="look", thought="hm", uses=[Use(id="t1", name="Bash", arguments={"command": "ls"}, seen=b"a b")]
            ),
            Said(message="done"),
        ],
        CLAUDE,
    ),
    "codex": (
        [
            Said(message="", thought="hm"),
            Said(message="", uses=[Use(id="i1", name="command_execution", arguments={"command": "ls"}, seen=b"a b")]),
            Said(message="done"),
        ],
        CODEX,
    ),
    "gemini-cli": (
        [
            Said(
                message="look", uses=[Use(id="t1", name="run_shell_command", arguments={"command": "ls"}, seen=b"a b")]
            ),
            Said(message="done"),
        ],
        GEMINI,
    ),
    "mini-swe-agent": (
        [
            Said(message="look", uses=[Use(id="t1", name="bash", arguments={"command": "ls"}, seen=b"a b")]),
            Said(message="done"),
        ],
        MINI,
    ),
}


def account_of(name: str, told: Any) -> tuple[bytes, dict[bytes, bytes]]:
    if name == "mini-swe-agent":
        return b"", {b"trajectory.json": json.dumps(told).encode()}
    return b"\n".join(json.dumps(line).encode() for line in told), {}


@pytest.mark.parametrize("name", TOLD)
def test_what_each_tells_becomes_steps_and_sums(name: str) -> None:
    steps, told = TOLD[name]
    found = HARNESSES[name].read(*account_of(name, told))
    assert found.steps == steps
    assert found.told == Told(tokens_in=12, tokens_out=6)
    result = AgentResult(stop=Stop.DONE, steps=tuple(found.steps), tokens_in=12, tokens_out=6, told=found.told)
    made = json.loads(encode(trajectory(Pair(agent=name, model="p/m"), "1", "do it", result)))
    assert made["extra"]["agrees"] is True
    seen = [r["content"] for step in made["steps"] for r in step.get("observation", {}).get("results", ())]
    assert seen == ["a b"]


HOSTILE = [
    None,
    1,
    "x",
    [],
    {},
    {"type": None},
    {"type": ["x"]},
    {"type": "assistant"},
    {"type": "assistant", "message": 3},
    {
        "type": "assistant",
        "message": {"id": {}, "content": [{"type": "tool_use", "id": [], "name": {"a": 1}, "input": "x"}]},
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "none", "content": {}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": [], "content": "\ud800"}]}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "\udfff"}},
    {"type": "item.completed"},
    {"type": "item.completed", "item": {"type": {}, "id": 3, "x": float("nan")}},
    {"type": "turn.completed", "usage": {"input_tokens": -5, "output_tokens": True}},
    {"type": "message", "role": "assistant", "content": {"a": []}},
    {"type": "tool_use"},
    {"type": "tool_result", "output": 3},
    {"type": "result", "usage": [], "stats": {"total_tokens": -1, "input_tokens": "x"}},
]


@pytest.mark.parametrize("name", HARNESSES)
def test_whatever_a_harness_tells_makes_a_transcript(name: str) -> None:
    deep = b'{"type":"item.completed","item":' + b'{"a":' * 3000 + b"1" + b"}" * 3001
    output = b"\n".join([*(json.dumps(line).encode() for line in HOSTILE), b"{", b"\xff\xfe", deep])
    messages = [{"role": "assistant", "content": m, "tool_calls": [m], "extra": m} for m in HOSTILE]
    more = [
        {"role": "assistant", "tool_calls": [{"function": {"name": 1, "arguments": a}}]}
        for a in ("[", "NaN", '{"a":NaN}')
    ]
    for left in (b"[", b"3", json.dumps({"messages": [*messages, *more, *HOSTILE]}).encode(), deep):
        found = HARNESSES[name].read(output, {b"trajectory.json": left})
        result = AgentResult(stop=Stop.CRASHED, steps=tuple(found.steps), told=found.told)
        made = json.loads(encode(trajectory(Pair(agent=name, model="p/m"), "1", "do it", result)))
        assert made["steps"][0] == {"step_id": 1, "source": "user", "message": "do it"}


def test_what_is_long_is_cut_in_the_transcript_and_not_agreed_where_it_differs() -> None:
    said = Said(
        message="x" * 200_000, uses=[Use(id="i" * 900, name="n", arguments={"a": "y" * 200_000}, seen=b"z" * 200_000)]
    )
    result = AgentResult(stop=Stop.DONE, steps=(said,), tokens_in=1, told=Told(tokens_in=2, tokens_out=0))
    raw = encode(trajectory(Pair(agent="codex", model="p/m"), "1", "do it", result))
    assert len(raw) < 250_000
    assert json.loads(raw)["extra"]["agrees"] is False


class Left:
    """What an agent left, as a pair of sandboxes hands it over."""

    def __init__(self, folder: Path, ended: Ended) -> None:
        self._folder, self._ended = folder, ended

    def start(self, *_: Any, **__: Any) -> Left:
        return self

    def wait(self) -> Ended:
        return self._ended

    def take(self, **caps: Any) -> tuple[FileEntry, ...]:
        with hostile.opened(self._folder, []) as folder:
            return tuple(hostile.read_tree(folder, **caps))


def tried(tree: Path, folder: Path, *, task_hits: frozenset[str] = frozenset()) -> AgentResult:
    """What codex's trial comes to that ended with 1."""
    ended = Ended(
        agent=Result(started=True, exit_code=1, stdout=b"".join(json.dumps(e).encode() + b"\n" for e in CODEX)),
        task=Result(started=True, exit_code=0, limits_hit=task_hits),
        refused=0,
        stopped=False,
    )
    left: Any = Left(folder, ended)
    return HARNESSES["codex"].run(replace(task("responses"), tree=tree, pair=left))


def test_an_agent_that_leaves_more_than_is_read_has_tried(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    for number in range(LEFT_FILES + 2):
        (folder / str(number)).touch()
    assert len(tried(tree, folder).steps) == 3


def test_a_limit_of_its_commands_explains_an_agent_that_crashed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    assert tried(tree, tmp_path / "private").stop is Stop.CRASHED
    assert tried(tree, tmp_path / "private", task_hits=frozenset({"memory"})).stop is Stop.LIMIT


def test_an_account_without_end_is_read_in_one_go() -> None:
    """Reading each use by looking through all before it would take hours here."""
    item = {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "aggregated_output": "a"}}
    found = HARNESSES["codex"].read((json.dumps(item).encode() + b"\n") * 120_000, {})
    uses = [use for step in found.steps for use in step.uses]
    assert (len(found.steps), len(uses), {use.seen for use in uses}) == (STEPS_MOST, 120_000, {b"a"})
