"""What a static check is handed and what it answers.

A check is a function `run(scene, parameters) -> Row` in a file of its own; its id is the file's name. It looks at the
bundle as it lies on disk, or runs something in the bundle's own environment. Parameters come from rules/checks.yaml.
What keeps a check from knowing (a listener that cannot be opened, a launcher that breaks) is an InfraError, no row.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from programsmith.bundle.manifest import Manifest
from programsmith.bundle.sides import Sides, read_sides
from programsmith.bundle.tree import agent_side, read_bundle
from programsmith.payload.query.search import readings
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import Lock

T = TypeVar("T")
KEPT_BYTES = 1 << 22  # of one file in all its readings


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A check's answer. `evidence` is JSON: counts, places, digests; never a held-out byte."""

    passed: bool
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One bundle with what was made of the same source. `schema` is our schema of task.toml.

    `environments` is r/environments.json; `scratch` a folder that the check may fill. `read` holds what was read of
    the bundle already: all checks of one run share it, and `reading` is held by whoever adds to it.
    """

    bundle: Path
    environments: Path
    manifest: Manifest
    lock: Lock
    oracle: tuple[FileEntry, ...]
    schema: Mapping[str, Any]
    scratch: Path
    owner_secret: bytes | None = None
    read: dict[str, Any] = field(default_factory=dict)
    reading: threading.RLock = field(default_factory=threading.RLock)

    @property
    def files(self) -> dict[str, FileEntry]:
        """The bundle's files by path."""
        return self.once("files", lambda: read_bundle(self.bundle))

    @property
    def agent(self) -> dict[str, FileEntry]:
        """The files that an agent can read."""
        return self.once("agent", lambda: agent_side(self.files))

    @property
    def sides(self) -> Sides:
        """The cases of both sides. Raises InfraError where the bundle does not open."""
        return self.once("sides", lambda: read_sides(self.bundle, self.owner_secret))

    @property
    def asked(self) -> bool:
        """Whether the plan lets agents ask the original. What the owner sealed need not open for that."""
        try:
            return "queries" in json.loads(self.content("tests/plan.json"))["notes"]
        except (ValueError, KeyError, TypeError):  # no plan of ours: that is told where sides are read
            return False

    @property
    def views(self) -> Mapping[str, Any]:
        """The launcher configurations of the environment: `build` and `run`."""
        value: Mapping[str, Any] = json.loads(self.environments.read_bytes())
        return value

    def texts(self, path: str) -> tuple[bytes, ...]:
        """A file's content, and what it holds in known encodings; kept for the next check where that is not much."""
        name = f"texts of {path}"
        if name in self.read:
            kept: tuple[bytes, ...] = self.read[name]
            return kept
        found = tuple(readings(self.files[path].content))
        if sum(map(len, found)) <= KEPT_BYTES:
            self.read[name] = found
        return found

    def content(self, path: str) -> bytes:
        """A file's content; nothing where the bundle lacks it, which harbor_validity tells."""
        entry = self.files.get(path)
        return entry.content if entry else b""

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` makes, made once for all checks of a run."""
        with self.reading:
            if name not in self.read:
                self.read[name] = make()
            found: T = self.read[name]
            return found


class Check(Protocol):
    """One check."""

    def __call__(self, scene: Scene, parameters: Mapping[str, Any]) -> Row:
        """Judge the scene. Raises InfraError where that is not possible."""


def first(found: list[str], good: str, bad: str) -> str:
    """One line: `good`, or `bad` with the first place and how many there are."""
    if not found:
        return good
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{bad}: {found[0]}{more}"
