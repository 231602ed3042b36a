"""The miner protocol: a locked source goes in, cases with provenance come out.

A miner never decides truth: what a test expects is recorded as a cross-check. What it cannot read with certainty it
refuses, and counts under one closed word.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.golden import MinedCase, Provenance
from programsmith.records.lock import OracleFacts
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.recipe import BuildRequest

if TYPE_CHECKING:
    from programsmith.miners.staged import Stage

_CODE_DIGITS = 3  # an exit code is at most 255


class Skip(Exception):  # noqa: N818 - a refusal with a counted reason, not a fault
    """A test that cannot become a case. The message is the closed word that it is counted under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MineLimits:
    """Caps on what one case or one file may bring: entries, bytes, and nodes of a parsed table."""

    fixture_files: int
    fixture_bytes: int
    table_bytes: int
    table_nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a miner that runs the source's suite needs: the build, the oracle, limits of a command, its rule.

    `oracle` is the host folder of the tree that is shown at /opt/oracle; `say` takes one line of progress.
    """

    request: BuildRequest
    facts: OracleFacts
    oracle: Path
    limits: Limits
    rule: Mapping[str, Any]
    say: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class MineContext:
    """What a miner may know besides the tree: the tool's name, the licence of a path, its caps, its counters.

    `options` are those that the oracle documents. `stage` plays shell text of the tree in a sandbox; without one, what
    needs it is counted `no_stage`. Without a `bench` nothing of the source can be run.
    """

    tool: str
    licence: Callable[[bytes], str]
    limits: MineLimits
    options: tuple[str, ...] = ()
    stage: Stage | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    bench: Bench | None = None

    def provenance(self, miner: str, entry: FileEntry, line: int = 0) -> Provenance:
        """Where a case was found: `line` counts from 1, 0 stands for the whole file."""
        blob = hashlib.sha256(entry.content).hexdigest()
        return Provenance(miner=miner, path=entry.path, line=line, blob=blob, licence=self.licence(entry.path))


class Miner(Protocol):
    """One test format."""

    name: str

    def mine(self, tree: SourceTree, context: MineContext) -> Iterable[MinedCase]:
        """Every case of this format in `tree`, in path order; refusals are counted in `context.skipped`."""


def exit_code_of(text: bytes) -> int | None:
    """The exit code that a file's or a field's text states; None where it states none."""
    digits = text.strip()
    return int(digits) if digits.isdigit() and len(digits) <= _CODE_DIGITS else None


def folder_of(path: bytes) -> bytes:
    """The folder that holds `path`; empty for the root."""
    return path.rpartition(b"/")[0]


def name_of(path: bytes) -> bytes:
    """The last part of `path`."""
    return path.rpartition(b"/")[2]


def show(path: bytes) -> str:
    """A path as text for keys and messages, every odd byte escaped."""
    return path.decode("utf-8", "backslashreplace")
