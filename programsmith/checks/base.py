"""What a static check is handed and what it answers.

A check is a function `run(scene, parameters) -> Row` in a file of its own; its id is the file's name. It looks at the
bundle as it lies on disk, or runs something in the bundle's own environment. Parameters come from rules/checks.yaml.
What keeps a check from knowing (a listener that cannot be opened, a launcher that breaks) is an InfraError, no row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from programsmith.bundle.manifest import Manifest
from programsmith.bundle.sides import Sides, read_sides
from programsmith.bundle.tree import agent_side, read_bundle
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A check's answer. `evidence` is JSON: counts, places, digests; never a held-out byte."""

    passed: bool
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One bundle with what was made of the same source. `schema` is our schema of task.toml.

    `environments` is r/environments.json; `scratch` a folder that the check may fill.
    """

    bundle: Path
    environments: Path
    manifest: Manifest
    lock: Lock
    oracle: tuple[FileEntry, ...]
    schema: Mapping[str, Any]
    scratch: Path
    owner_secret: bytes | None = None

    @cached_property
    def files(self) -> dict[str, FileEntry]:
        """The bundle's files by path."""
        return read_bundle(self.bundle)

    @cached_property
    def agent(self) -> dict[str, FileEntry]:
        """The files that an agent can read."""
        return agent_side(self.files)

    @cached_property
    def sides(self) -> Sides:
        """The cases of both sides."""
        return read_sides(self.bundle, self.owner_secret)

    @cached_property
    def views(self) -> Mapping[str, Any]:
        """The launcher configurations of the environment: `build` and `run`."""
        value: Mapping[str, Any] = json.loads(self.environments.read_bytes())
        return value


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
