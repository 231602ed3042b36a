"""ops.json: how a revision came to be, from the first bundle on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One case that changed its side."""

    case: str
    family: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation that was applied. `made` is the number of the revision that it made, `need` what it answers.

    `cause` is the block and the word that asked for it. `before` and `after` are the figures of the split: sizes,
    strength, and the trials of the parent that would pass.
    """

    made: int
    name: str
    need: str
    cause: str
    moves: tuple[Move, ...]
    before: dict[str, float]
    after: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An operation that the policy tried and that an invariant, or want of cases, refused."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """All operations since the first bundle, oldest first; `refused` are those tried before the last of them."""

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refusal, ...] = ()
