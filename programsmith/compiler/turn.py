"""A step's turn in a pass: one step of one spec's revision with the paths that it reads and writes.

In: a step, where the spec stands, what is settled. Out: its task name, paths, slice. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from programsmith.compiler import slices
from programsmith.compiler.events import Tell
from programsmith.compiler.paths import DIST, Folder, Spot
from programsmith.compiler.plan import Step, model_of
from programsmith.compiler.slices import Blocks, RuleFiles, content
from programsmith.compiler.view import Plain
from programsmith.compiler.walk import ONE
from programsmith.job import Job, Rules, Tracked
from programsmith.records.outcome import Record, Word
from programsmith.records.trial import Assignment
from programsmith.store.cache import ActionCache
from programsmith.store.retry import Retries
from programsmith.verdict.routes import Go

ONCE = Retries()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The spec that is built: its folder, the files that say it, its values with defaults filled, what the steps share.

    `route` says where the pipeline goes after a block said a word, `tell` takes what happens. `owner_secret` opens what
    the owner seals; `environment` may hold keys of providers; `signing_key` gives what exports are signed with. Who
    signs is no cause of what is signed.
    """

    folder: Folder
    files: tuple[Path, ...] = ()
    values: Mapping[str, Any]
    rules: RuleFiles
    retries: Retries = ONCE  # how often infra is tried again
    cache: Callable[[], ActionCache] | None = None  # what all specs share; None: every block runs
    blocks: Blocks
    route: Callable[[str, Word], Go]
    workers: int
    owner_secret: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    signing_key: Callable[[], bytes | None] = lambda: None
    tell: Tell = Plain().show

    def goes_on(self, block: str, word: Word) -> bool:
        """Whether the revision continues with the next block."""
        return self.route(block, word) is Go.CONTINUE


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """`reads` are the artifacts that exist for it; `records` what was settled before, for a step that gets it.

    `trials` are all that were asked for, for a step that brings them together.
    """

    subject: Subject
    step: Step
    spot: Spot
    reads: tuple[str, ...]
    records: Mapping[str, Record]
    trials: tuple[Assignment, ...] = ()
    exported: Path | None = None

    @property
    def name(self) -> str:
        """The task's name."""
        return self.subject.folder.task(self.step.block, self.spot)

    @property
    def record(self) -> Path:
        """Where the record goes."""
        return self.subject.folder.record(self.step.block, self.spot)

    @property
    def log(self) -> Path:
        """Where the block's own lines go."""
        return self.subject.folder.log(self.step.block, self.spot)

    @property
    def inputs(self) -> dict[str, Path]:
        """Artifact to path of what it reads."""
        own = {name: self._path(name) for name in self.reads if not self._of_trials(name)}
        return own | {
            f"{name} of {trial.folder}": self.subject.folder.artifact(name, replace(self.spot, trial=trial))
            for name in self.reads
            if self._of_trials(name)
            for trial in self.trials
        }

    @property
    def outputs(self) -> dict[str, Path]:
        """Artifact to path of what it writes."""
        return {name: self._path(name) for name in self.step.writes}

    def artifacts(self) -> dict[str, str]:
        """SHA-256 of each input; `absent` where it vanished."""
        return {name: self.subject.blocks.content(path) for name, path in self.inputs.items()}

    def slice(self) -> dict[str, str]:
        """All causes, taken now. Raises InputError on a broken rule file."""
        subject, project = self.subject, self.subject.folder.project
        causes = slices.declared(self.step, subject.values, subject.rules, subject.blocks)
        causes |= slices.host(self.step, subject.rules, subject.blocks)
        causes |= slices.secret(self.step, subject.owner_secret)
        causes |= dict(slices.outside(self.step, subject.values, project.root, project.cache))
        causes |= {name: content(path) for name, path in slices.answers(self.step, subject.values, project.root)}
        causes |= slices.tried(self.spot.trial, self.trials, project.root)
        return causes | self.artifacts() | slices.said(self.step, self.records, subject.rules, subject.blocks)

    def job(self, outputs: Mapping[str, Path], scratch: Path, say: Callable[[str], None]) -> Job:
        """What the block is handed. Makes nothing."""
        subject, project = self.subject, self.subject.folder.project
        need = slices.need(self.step, self.records, subject.rules, subject.blocks)
        records = {} if need is not None else self.records
        return Job(
            spec=Tracked("spec field", subject.values, self.step.spec),
            rules=Rules(subject.rules.load, self.step.rules),
            inputs=self.inputs,
            outputs=outputs,
            scratch=scratch,
            project=project.root,
            store=project.store,
            dist=project.dist,
            workers=subject.workers,
            owner_secret=subject.owner_secret,
            environment=subject.environment,
            signing_key=subject.signing_key,
            trial=self.spot.trial,
            trials=self.trials,
            records={name: replace(record, seconds=0.0) for name, record in records.items()},
            need=need,
            complete=self._answering(say),
            say=say,
        )

    def _answering(self, say: Callable[[str], None]) -> Callable[[Any], Any] | None:
        """Who answers what the step's block asks; None where its rule decides."""
        if model_of(self.step, self.subject.values) is None:
            return None
        from programsmith.compiler.answering import Answering  # specs without models do without

        return Answering(
            folder=self.subject.folder,
            task=self.name,
            usd=self.subject.values.get("budget", {}).get("usd"),
            load=self.subject.rules.load,
            cache=self.subject.cache,
            say=say,
        )

    def _of_trials(self, artifact: str) -> bool:
        """Whether each trial that the step brings together has one of its own."""
        return artifact.startswith(ONE) and self.spot.trial is None

    def _path(self, artifact: str) -> Path:
        if artifact == DIST:
            if self.exported is None:
                raise KeyError(f"{self.name} has no place in dist/: no verdict is settled")
            return self.exported
        return self.subject.folder.artifact(artifact, self.spot)
