"""What an agent attempt leaves: the trial, the verifier's grade of its artifact, the label that triage gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One agent attempt. `artifact` is the tree digest of /app/submission; `seconds` are wall time."""

    key: str
    pair: Pair
    index: int  # the seed of a scripted agent
    batch: int
    ceiling: bool
    stop: Stop
    artifact: str
    calls: int
    tokens_in: int
    tokens_out: int
    usd: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The verifier's result on one artifact: case words by id, public ones reported, held-out ones scored."""

    key: str
    artifact: str
    reward: float
    word: str  # the build word, or AC where cases ran
    held_out: dict[str, str]
    public: dict[str, str]
