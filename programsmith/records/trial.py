"""What an agent attempt leaves: the trial, the verifier's grade of its artifact, the label that triage gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

NO_MODEL = "none"


class Stop(StrEnum):
    """Why a trial ended. It says nothing about the grade."""

    DONE = "done"
    WALL = "wall"
    BUDGET = "budget"
    LIMIT = "limit"  # memory, processes, disk
    CRASHED = "crashed"  # the agent program ended with an error


class Label(StrEnum):
    """Triage's answer for one trial."""

    GOOD_FAILURE = "good_failure"
    BAD_FAILURE = "bad_failure"
    GOOD_SUCCESS = "good_success"
    BAD_SUCCESS = "bad_success"
    UNLABELLED = "unlabelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Who tried: harness and model. A scripted agent's model is its script."""

    agent: str
    model: str

    @property
    def folder(self) -> str:
        """Where its trials lie below a revision's trials/: `scripted-solver`."""
        return f"{slug(self.agent)}-{slug(self.model)}"


def pair_of(entry: Mapping[str, Any]) -> Pair:
    """Who tries by an entry of a spec. A script's stem or a command's program stands for a model that is not named."""
    program = entry.get("script") or next(iter((entry.get("command") or "").split()), NO_MODEL)
    return Pair(agent=entry["agent"], model=entry.get("model") or PurePosixPath(program).stem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Which trial a task runs: trial `index` of a pair, bought with `batch`; `entry` is the spec's, defaults filled.

    `index` counts over all batches of the pair and is the seed of a scripted agent. An `adversary` is told to score
    without solving.
    """

    agent: str
    model: str
    index: int
    batch: int
    ceiling: bool
    entry: Mapping[str, Any] = field(default_factory=dict)
    adversary: bool = False

    @property
    def pair(self) -> Pair:
        """Who tries."""
        return Pair(agent=self.agent, model=self.model)

    @property
    def folder(self) -> str:
        """Where its artifacts lie below a revision's trials/: `scripted-solver/3`, `ceiling/scripted-port/0`."""
        return "/".join([*self._kind, self.pair.folder, str(self.index)])

    @property
    def name(self) -> str:
        """As part of a task's name: `scripted:solver:3`, `ceiling:scripted:port:0`."""
        return ":".join([*self._kind, slug(self.agent), slug(self.model), str(self.index)])

    @property
    def _kind(self) -> list[str]:
        """What keeps trials apart that one pair makes with the same index."""
        return [name for name, is_so in (("ceiling", self.ceiling), ("adversary", self.adversary)) if is_so]


def slug(text: str) -> str:
    """A name of an agent or model as part of a path: everything but letters, digits, `.` and `_` becomes `-`."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._") else "-" for c in text).strip(".-") or "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One agent attempt. `artifact` is the tree digest of /app/submission; `seconds` are wall time.

    It holds for whatever batch buys it, so it does not name one.
    `left_out` names what no artifact holds: fifos, sockets, devices, and `more` where a cap of the reader was passed.
    `queries` counts what the original was asked, `asked` are the families in which it answered.
    """

    key: str
    pair: Pair
    index: int  # the seed of a scripted agent
    ceiling: bool
    stop: Stop
    artifact: str
    calls: int
    tokens_in: int
    tokens_out: int
    usd: float
    seconds: float
    left_out: tuple[str, ...] = ()
    queries: int = 0
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The verifier's result on one artifact: case words by id, public ones reported, held-out ones scored.

    It holds for every trial that left the artifact. `families` counts passed and all held-out cases of each,
    `near_limit` names cases that ended a little before or after a limit. `ends` are abnormal ends of the verifier on
    the way; a submission is `hostile` where it alone caused two of them, and then nothing of it counts as run.
    """

    key: str
    artifact: str
    reward: float
    word: str  # the build word, or AC where cases ran
    held_out: dict[str, str]
    public: dict[str, str]
    families: dict[str, tuple[int, int]] = field(default_factory=dict)
    near_limit: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    hostile: bool = False
