"""The agent protocol: what a trial hands to an agent, and what comes back.

An agent is code on our side that makes something happen in a sandbox which the trial has opened and will collect from.
It never sees the held-out cases; what it must not know is not in the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.trial import Stop
from programsmith.sandboxes.base import Sandbox

APP = "/app"
HOME = "/home/agent"
TMP = "/tmp"  # noqa: S108 - a path inside
OWN = "/opt/agent"
"""Where the files of a scripted agent or a command are shown."""
INSTRUCTION = f"{HOME}/instruction.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an agent is made of: its spec entry, the project that its paths start from, the bundle's folder."""

    entry: Mapping[str, Any]
    project: Path
    bundle: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """One attempt. `seed` is the trial's index, `limits` hold for the whole of it.

    `instruction` lies at INSTRUCTION too. `solution` opens the bundle's sealed solution, on our side alone.
    """

    sandbox: Sandbox
    instruction: str
    seed: int
    limits: Limits
    entry: Mapping[str, Any]
    solution: Callable[[], tuple[FileEntry, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action of an agent: the words that it ran, and what it saw of them."""

    words: tuple[str, ...]
    seen: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How the attempt ended, and what it used: model calls, tokens, dollars."""

    stop: Stop
    steps: tuple[Step, ...] = ()
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0


class Agent(Protocol):
    """One harness."""

    def version(self, made: Made) -> str:
        """Whatever decides an attempt besides task, model and seed; part of the trial's key. Raises InputError."""

    def mounts(self, made: Made) -> tuple[Mount, ...]:
        """What its sandbox shows besides the task, read-only."""

    def run(self, task: AgentTask) -> AgentResult:
        """Attempt the task. Raises InfraError, PrerequisiteError: then there was no trial."""
