"""Every path below cache/ and dist/ is made here and nowhere else.

In: a project root, a spec's name, where a task stands. Out: paths, nothing created. An artifact is named as in the
plan: `lock.json`, `r/bundle/` (below r<N>/), `next/bundle/` (below r<N+1>/), `t/artifact.tar` (below the trial's
folder in r<N>/trials/), `dist/` (the exported bundle).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from programsmith.compiler.stamp import FOOTING, STAMP
from programsmith.records.trial import Assignment

DIST = "dist/"
LEDGERS = "ledger"
SHELVES: Mapping[str, str] = MappingProxyType({"draft": "drafts", "shelve_easy": "easy", "shelve_hard": "hard"})


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a task stands: its revision, None before all revisions; its batch; its trial."""

    revision: int | None = None
    batch: int | None = None
    trial: Assignment | None = None

    @property
    def steps(self) -> list[str]:
        """`r0`, `b1`, as far as they are said."""
        return [f"{kind}{n}" for kind, n in (("r", self.revision), ("b", self.batch)) if n is not None]


BEFORE = Spot()


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

    @property
    def footing(self) -> Path:
        """What all stamps stand on."""
        return self.cache / FOOTING

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
    def stamp(self) -> Path:
        """What answers for the spec while nothing changes."""
        return self.root / STAMP

    @property
    def lock(self) -> Path:
        """Held while a build of the spec runs."""
        return self.root / "lock"

    @property
    def run(self) -> Path:
        """Which run goes on; left only by one that did not come to its end."""
        return self.root / "run.json"

    @property
    def scratch(self) -> Path:
        """Below it each running block has a folder; whatever an earlier run left there is void."""
        return self.root / "scratch"

    @property
    def approved(self) -> Path:
        """What a person accepted."""
        return self.root / "approved.json"

    @property
    def proven(self) -> Path:
        """Where it was proven besides its own build."""
        return self.root / "proven.json"

    @property
    def pushed(self) -> Path:
        """What was pushed of it to a registry."""
        return self.root / "pushed.json"

    @property
    def origins(self) -> Path:
        """What stood behind the causes of its blocks when they ran."""
        return self.root / "origins.json"

    @property
    def verdict(self) -> Path:
        """The spec's verdict."""
        return self.root / "verdict.json"

    @property
    def ledger(self) -> Path:
        """What the spec reserved and spent, by the name that it has."""
        own, twin = self.ledgers
        return twin if twin.exists() and not own.exists() else own

    @property
    def ledgers(self) -> tuple[Path, Path]:
        """Both names of the ledger: the second outlives the folder."""
        return self.root / "ledger.jsonl", self.project.cache / LEDGERS / f"{self.name}.jsonl"

    def calls(self, reservation: str) -> Path:
        """The record of the model calls that were made under a reservation."""
        return self.root / "calls" / f"{reservation}.jsonl"

    def task(self, block: str, spot: Spot) -> str:
        """Task name: `tally:ingest`, `tally:r0:create`, `tally:r0:b1:triage`, `tally:r0:b0:trial:scripted:solver:3`."""
        trial = [spot.trial.name] if spot.trial else []
        return ":".join([self.name, *spot.steps, block, *trial])

    def record(self, block: str, spot: Spot) -> Path:
        """The block's record."""
        return self._at(spot) / f"{block}.json"

    def log(self, block: str, spot: Spot) -> Path:
        """What the block said while it ran, or how it broke."""
        trial = [spot.trial.folder.replace("/", ".")] if spot.trial else []
        return self.root / "logs" / ".".join([*spot.steps, block, *trial, "log"])

    def artifact(self, name: str, spot: Spot) -> Path:
        """The artifact `name` as a task at `spot` sees it."""
        kind, slash, rest = name.partition("/")
        revision = spot.revision or 0
        match kind:
            case "r" if slash:
                return self.revision(revision) / rest.rstrip("/")
            case "next":
                return self.revision(revision + 1) / rest.rstrip("/")
            case "t" if spot.trial:
                return self._at(spot) / rest.rstrip("/")
            case _:
                return self.root / name.rstrip("/")

    def revision(self, number: int) -> Path:
        """r<N>/: the state of one revision."""
        return self.root / f"r{number}"

    def exported(self, outcome: str) -> Path:
        """Where the bundle goes under a verdict of `outcome`."""
        shelf = SHELVES.get(outcome)
        return self.project.dist / shelf / self.name if shelf else self.project.dist / self.name

    def _at(self, spot: Spot) -> Path:
        if spot.revision is None:
            return self.root
        top = self.revision(spot.revision)
        if spot.trial:
            return top / "trials" / spot.trial.folder
        return top if spot.batch is None else top / f"b{spot.batch}"


def part(path: Path) -> Path:
    """Where the content of `path` is made before it is published."""
    return path.with_name(path.name + ".part")


def former(path: Path) -> Path:
    """Where the folder at `path` goes for the moment in which it is replaced."""
    return path.with_name(path.name + ".former")
