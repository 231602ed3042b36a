"""The agent protocol: what a trial hands to an agent, and what comes back.

An agent is code on our side that makes something happen in a sandbox which the trial has opened and will collect from.
It never sees the held-out cases; what it must not know is not in the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.trial import Stop
from programsmith.sandboxes.base import Sandbox

if TYPE_CHECKING:
    from programsmith.agents.bridge import Pair
    from programsmith.agents.serving import Asks

APP = "/app"
HOME = "/home/agent"
TMP = "/tmp"  # noqa: S108 - a path inside
OWN = "/opt/agent"
"""Where the files of a scripted agent or a command are shown."""
INSTRUCTION = f"{HOME}/instruction.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an agent is made of: its spec entry, the project that its paths start from, the bundle's folder.

    `harness` is its row of rules/agents.yaml, where it has one.
    """

    entry: Mapping[str, Any]
    project: Path
    bundle: Path
    harness: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """One attempt. `seed` is the trial's index, `limits` hold for the whole of it.

    `instruction` lies at INSTRUCTION too. `solution` opens the bundle's sealed solution, on our side alone. A harness
    has a `pair` of sandboxes, of whose limits `own` names the shares of its own one, its installed `tree` on the host,
    and says `asks` when it asks its model; `environment` is that of the task's sandbox.
    """

    sandbox: Sandbox
    instruction: str
    seed: int
    limits: Limits
    entry: Mapping[str, Any]
    solution: Callable[[], tuple[FileEntry, ...]]
    environment: tuple[tuple[bytes, bytes], ...] = ()
    pair: Pair | None = None
    own: Mapping[str, float] = field(default_factory=dict)
    tree: Path = Path()
    asks: Asks | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action of an agent: the words that it ran, and what it saw of them."""

    words: tuple[str, ...]
    seen: bytes


@dataclass(slots=True, kw_only=True)
class Use:
    """One use of a tool by a model, and what it saw of it; None where nothing came."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    seen: bytes | None = None


@dataclass(slots=True, kw_only=True)
class Said:
    """One answer of a model, as its harness tells it."""

    message: str
    thought: str = ""
    uses: list[Use] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Tokens that a harness says it used; the gateway's record is what counts."""

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How the attempt ended, and what it used: model calls, tokens, dollars.

    `unreached` is when a harness last found no way to its gateway, in seconds since the epoch.
    """

    stop: Stop
    steps: tuple[Step | Said, ...] = ()
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    told: Told | None = None
    unreached: float | None = None


class Agent(Protocol):
    """One harness."""

    def version(self, made: Made) -> str:
        """Whatever decides an attempt besides task, model and seed; part of the trial's key. Raises InputError."""

    def mounts(self, made: Made) -> tuple[Mount, ...]:
        """What its sandbox shows besides the task, read-only."""

    def run(self, task: AgentTask) -> AgentResult:
        """Attempt the task. Raises InfraError, PrerequisiteError: then there was no trial."""
