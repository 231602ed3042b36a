"""A harness: an unmodified coding agent of others, in a sandbox of its own beside the task's, before the gateway.

In: its installed tree, how it asks its model. Out: what it did, by its own account. Each harness is a file that says
how it is started, with what settings (no telemetry, no updates, no tool of the provider), and how what it tells is
read. What it tells is text of an untrusted program: whatever is not as expected is left out.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from programsmith.agents.base import APP, INSTRUCTION, AgentResult, AgentTask, Made, Said, Step, Told, Use
from programsmith.agents.bridge import PORT
from programsmith.agents.installed import installed, row_digest
from programsmith.agents.start import stop_of
from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.trial import Stop

KEY = "dummy"
"""What a harness takes for its key. The gateway has the real one."""
ADDRESS = f"http://127.0.0.1:{PORT}"
STEPS_MOST = 20_000
WORD_MOST = 128_000
"""Bytes of an instruction that fits into one word of a command line: Linux takes 131,071."""
LONG = (
    f"Your task is written in the file {INSTRUCTION}, for it is too long to stand here. "
    "Read all of it with your shell, piece by piece, before anything else; then do what it says."
)
LEFT_FILES, LEFT_BYTES = 1000, 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How it is started: words, the first of them a program below TREE; its environment; files for PRIVATE."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Read:
    """What was read of its account so far."""

    steps: list[Said] = field(default_factory=list)
    told: Told | None = None
    _waiting: dict[str, Use] = field(default_factory=dict)  # uses of tools that nothing was seen of, by id

    def said(self, message: str, thought: str = "") -> Said:
        """One more step."""
        made = Said(message=message, thought=thought)
        if len(self.steps) < STEPS_MOST:
            self.steps.append(made)
        return made

    def use(self, name: str, identity: str, arguments: Any) -> None:
        """One more tool call of the last step."""
        last = self.steps[-1] if self.steps else self.said("")
        made = Use(id=identity, name=name, arguments=arguments if isinstance(arguments, dict) else {})
        last.uses.append(made)
        self._waiting[identity] = made

    def saw(self, identity: str, seen: str) -> None:
        """What the tool call of that id gave."""
        use = self._waiting.pop(identity, None)
        if use is not None:
            use.seen = seen.encode("utf-8", "surrogatepass")


class Harness(ABC):
    """One harness."""

    name: str
    withheld: tuple[str, ...] = ()
    """Patterns of names in its environment that no command of the task gets."""

    def version(self, made: Made) -> str:
        """The version of its row in rules/agents.yaml, with what else the row says that it is made of."""
        return f"{made.harness['version']} {row_digest(made.harness)}"

    def mounts(self, made: Made) -> tuple[Mount, ...]:  # noqa: ARG002 - every agent has the same form
        """Nothing: the task's sandbox never sees it."""
        return ()

    def tree(self, made: Made) -> Path:
        """Where it is installed. Raises PrerequisiteError."""
        return installed(self.name, made.harness)

    @abstractmethod
    def start(self, tree: Path, task: AgentTask) -> Start:
        """How it is started for a task."""

    @abstractmethod
    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:
        """What it did, by its standard output and what it left in PRIVATE."""

    def run(self, task: AgentTask) -> AgentResult:
        """Let it try. Raises InfraError, PrerequisiteError."""
        assert task.pair is not None
        assert task.asks is not None
        start = self.start(task.tree, task)
        shared = {name: value for name, value in task.environment if name not in {b"MODEL", b"SEED"}}
        own = {os.fsencode(name): os.fsencode(value) for name, value in start.environment.items()}
        running = task.pair.start(
            tuple(os.fsencode(word) for word in start.words),
            env=tuple({**shared, **own}.items()),
            cwd=APP,
            limits=task.limits,
            own=task.own,
            files=tuple(FileEntry(name.encode(), content=text.encode()) for name, text in start.files.items()),
        )
        ended = running.wait()
        if ended.agent.start_error is not None:
            raise PrerequisiteError(f"agent {self.name}: cannot be started ({os.strerror(ended.agent.start_error)})")
        left = running.take(max_files=LEFT_FILES, max_bytes=LEFT_BYTES, cut=True)
        found = self.read(ended.agent.stdout, {e.path: e.content for e in left if e.kind == "file"})
        stop = stop_of(ended.agent)
        if stop is Stop.CRASHED and ended.task.limits_hit:
            stop = stop_of(replace(ended.agent, limits_hit=ended.task.limits_hit))
        steps: tuple[Step | Said, ...] = tuple(found.steps)
        if not steps:  # what it said is all that there is to see
            seen = ended.agent.stdout + ended.agent.stderr
            steps = (Step(words=start.words, seen=seen),)
        return AgentResult(stop=stop, steps=steps, told=found.told, unreached=ended.unreached)


def asked(task: AgentTask) -> str:
    """What stands on its command line: the instruction, or where all of it lies for its commands to read."""
    return task.instruction if len(task.instruction.encode()) <= WORD_MOST else LONG


def lines(output: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of an output, one a line; other lines are none."""
    for line in output.splitlines():
        if line.startswith(b"{"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            yield found


def table(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> Iterable[dict[str, Any]]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value where it is text; other values as JSON, nothing as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def count(value: Any) -> int:
    """The value where it is a whole number from 0 up, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
