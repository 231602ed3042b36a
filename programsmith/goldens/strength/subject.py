"""The oracle as something that can be traced and mutated: one class per way of building, one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from programsmith.goldens.strength.operators import Mutation
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result
from programsmith.payload.verifier.model import Case, Limits
from programsmith.records.golden import Golden
from programsmith.records.lock import OracleFacts

Chosen = Callable[[Golden], Limits]


class Unfit(Enum):
    """Why a mutation is no mutant. The values are the words that `skipped` counts by."""

    DOES_NOT_BUILD = "does_not_build"
    EQUIVALENT = "equivalent"  # the compiler makes the same program of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every subject runs cases with: a launcher, how the oracle is started, the limits of one launch."""

    launcher: Launcher
    facts: OracleFacts
    limits: Limits

    def request(self, case: Case, tree: Path) -> Request:
        """The launch of the oracle tree on the host path `tree` with a case."""
        return Request(
            program=self.facts.program,
            argv=(self.facts.tool.encode(), *case.argv),
            env=case_env(case.env),
            limits=self.limits,
            stdin=case.stdin,
            files=case.files,
            mounts=(Mount(source=str(tree), target=ORACLE),),
        )


class Subject(Protocol):
    """A traceable, mutable build of the oracle."""

    tree: Path  # the unmutated build, as it is shown at /opt/oracle

    @property
    def sources(self) -> Mapping[str, bytes]:
        """Mutable files by their path in the locked source."""

    def trace(self, goldens: Sequence[Golden]) -> list[frozenset[str]]:
        """Lines (`path:line`) that each case executes; empty where a run could not be traced."""

    def answers(self, tree: Path, goldens: Iterator[Golden], limits: Chosen) -> Iterator[tuple[Golden, Result]]:
        """Run cases against `tree` in order; a case is drawn from the iterator no sooner than it is needed."""

    def scope_lines(self) -> int:
        """Executable lines of all sources."""

    def mutate(self, slot: int, mutation: Mutation) -> Path | Unfit:
        """The tree with one mutation applied, valid until the slot's next."""

    def spent(self) -> float:
        """CPU seconds that mutants took so far: to build, and to run cases. A busy host does not stretch them."""

    def close(self) -> None:
        """Remove what was built."""


def limits_of(rule: Mapping[str, Any]) -> Limits:
    """Limits of a section of rules/limits.yaml."""
    return Limits(**{name: rule[name] for name in Limits.__dataclass_fields__})
