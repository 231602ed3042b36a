"""Where the pipeline goes after a block's word, as rules/routes.yaml says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from programsmith.records.outcome import Word


class Go(StrEnum):
    """What follows a word."""

    CONTINUE = "continue"
    MORE = "more"  # another batch of trials of the same revision
    SYNTHESIZE = "synthesize"
    END = "end"


@dataclass(frozen=True, slots=True)
class Route:
    """What follows; `outcome` is the spec's where it ends."""

    go: Go
    outcome: Word | None = None


class Routes:
    """The table of rules/routes.yaml, whose shape its schema has checked."""

    def __init__(self, rule: Mapping[str, Any]) -> None:
        rows = ((block, word, to) for block, words in rule.items() for word, to in words.items())
        self._table = {(block, Word(word)): _route(to) for block, word, to in rows}

    def __iter__(self) -> Any:
        return iter(self._table.items())

    def route(self, block: str, word: Word) -> Route:
        """What follows when `block` says `word`. Raises KeyError where the table has no row."""
        return self._table[block, word]

    def go(self, block: str, word: Word) -> Go:
        """What follows, whatever the spec's outcome."""
        return self.route(block, word).go

    def goes_on(self, block: str, word: Word) -> bool:
        """Whether the revision continues with the next block."""
        return self.route(block, word).go is Go.CONTINUE


def _route(to: str | Mapping[str, str]) -> Route:
    return Route(Go(to)) if isinstance(to, str) else Route(Go.END, Word(to["end"]))
