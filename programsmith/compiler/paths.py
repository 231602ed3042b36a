"""Every path below cache/ and dist/ is made here and nowhere else.

In: a project root, a spec's name, a revision. Out: paths, nothing created. An artifact is named as in the plan:
`lock.json`, `r/bundle/` (below r<N>/), `dist/` (the exported bundle).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

DIST = "dist/"
SHELVES: Mapping[str, str] = MappingProxyType({"draft": "drafts", "shelve_easy": "easy", "shelve_hard": "hard"})


@dataclass(frozen=True, slots=True)
class Project:
    """A project: the folder that holds specs/, rules/, cache/ and dist/."""

    root: Path

    @property
    def cache(self) -> Path:
        """All state of all specs."""
        return self.root / "cache"

    @property
    def dist(self) -> Path:
        """Where exported bundles go."""
        return self.root / "dist"

    @property
    def store(self) -> Path:
        """What all specs share by content."""
        return self.cache / "store"

    def folder(self, name: str) -> Folder:
        """The state of the spec `name`."""
        return Folder(self, name)


@dataclass(frozen=True, slots=True)
class Folder:
    """cache/<name>/: the state of one spec."""

    project: Project
    name: str

    @property
    def root(self) -> Path:
        """cache/<name>."""
        return self.project.cache / self.name

    @property
    def database(self) -> Path:
        """What doit knows about the spec's tasks."""
        return self.root / ".doit.db"

    @property
    def lock(self) -> Path:
        """Held while a build of the spec runs."""
        return self.root / "lock"

    @property
    def scratch(self) -> Path:
        """Below it each running block has a folder; whatever an earlier run left there is void."""
        return self.root / "scratch"

    @property
    def approved(self) -> Path:
        """What a person accepted."""
        return self.root / "approved.json"

    @property
    def verdict(self) -> Path:
        """The spec's verdict."""
        return self.root / "verdict.json"

    def task(self, block: str, revision: int | None) -> str:
        """Task name: `tally:ingest`, `tally:r0:create`. A revision of None: the block comes before all revisions."""
        return f"{self.name}:{block}" if revision is None else f"{self.name}:r{revision}:{block}"

    def record(self, block: str, revision: int | None) -> Path:
        """The block's record."""
        return self._of(revision) / f"{block}.json"

    def log(self, block: str, revision: int | None) -> Path:
        """What the block said while it ran, or how it broke."""
        return self.root / "logs" / (f"{block}.log" if revision is None else f"r{revision}.{block}.log")

    def artifact(self, name: str, revision: int) -> Path:
        """The artifact `name` as `revision` sees it."""
        if name.startswith("r/"):
            return self._of(revision) / name.removeprefix("r/").rstrip("/")
        return self.root / name.rstrip("/")

    def exported(self, outcome: str) -> Path:
        """Where the bundle goes under a verdict of `outcome`."""
        shelf = SHELVES.get(outcome)
        return self.project.dist / shelf / self.name if shelf else self.project.dist / self.name

    def _of(self, revision: int | None) -> Path:
        return self.root if revision is None else self.root / f"r{revision}"


def part(path: Path) -> Path:
    """Where the content of `path` is made before it is published."""
    return path.with_name(path.name + ".part")


def former(path: Path) -> Path:
    """Where the folder at `path` goes for the moment in which it is replaced."""
    return path.with_name(path.name + ".former")
