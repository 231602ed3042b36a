"""A block's typed answer, and the record that it leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Word(StrEnum):
    """Every answer that any block can give. The plan says which block can say which."""

    PASS = "pass"
    REJECT = "reject"
    NONE_FIT = "none_fit"
    PICKED = "picked"
    PARKED = "parked"
    UNBUILDABLE = "unbuildable"
    TOOLCHAIN_TOO_OLD = "toolchain_too_old"
    TOO_THIN = "too_thin"
    TOO_WEAK = "too_weak"
    FAIL = "fail"
    SHIP = "ship"
    SHELVE_EASY = "shelve_easy"
    SHELVE_HARD = "shelve_hard"
    DROP = "drop"
    DRAFT = "draft"
    EXPORTED = "exported"
    DONE = "done"
    DEFECT = "defect"
    IN_BAND = "in_band"
    MORE = "more"
    HARDEN = "harden"
    EASE = "ease"
    TOO_HARD = "too_hard"
    BROKEN = "broken"
    CLEAN = "clean"
    HACKED = "hacked"
    REVISED = "revised"
    GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a block says. `reason` is one line for a person; `evidence` is JSON for everyone else."""

    word: Word
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """`<block>.json`: what a block said, on which inputs (artifact name to SHA-256), in how many seconds."""

    block: str
    outcome: Word
    reason: str
    evidence: dict[str, Any]
    inputs: dict[str, str]
    seconds: float
