"""Trials of a toy task: an empty project, jobs of the blocks trial and grade, what a trial left."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.blocks import grade, trial
from programsmith.compiler.plan import STEP
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.trial import Assignment, Grade, Trial, pair_of
from programsmith.rulebook.load import Rulebook
from programsmith.sources.tree import read_tar

ASKED = ("facts.json", "oracle.tar")
READS = ("r/manifest.json", "r/bundle/", "r/environments.json", "r/places.json", "lock.json", "source.tar")


@dataclass
class Bench:
    """One toy task and an empty project; `run` makes a trial of a spec entry."""

    toy: Any
    folder: Path
    wall: str = "60s"
    generation: int = 1
    trial_limits: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    meter: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def kind(self) -> str:
        return str(json.loads(self.toy.path("r/places.json").read_bytes())["kind"])

    def script(self, text: str, name: str = "agent.py", mode: int = 0o644) -> dict[str, Any]:
        """The entry of a scripted agent."""
        path = self.project / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return {"agent": "scripted", "model": None, "script": f"agents/{name}", "trials": 6}

    def job(self, entry: Mapping[str, Any], index: int = 0, *, ceiling: bool = False) -> Job:
        pair = pair_of(entry)
        which = Assignment(agent=pair.agent, model=pair.model, index=index, batch=0, ceiling=ceiling, entry=entry)
        place, scratch = self.folder / which.folder, self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        for made in (place, scratch, self.project):
            made.mkdir(parents=True, exist_ok=True)
        own = {
            f"t/{name}": place / name for name in ("artifact.tar", "transcript.json", "details.json", "queries.jsonl")
        }
        spec = {"budget": {"agent_wall": self.wall}, "generation": self.generation, "task": self.toy.spec["task"]}
        return Job(
            spec=Tracked("spec field", spec, ("budget.agent_wall", "generation", "task.oracle_access")),
            rules=Rules(self.rule, STEP["trial"].rules),
            environment=self.environment,
            calls=place / "calls.jsonl",
            inputs={
                **{name: self.toy.path(name) for name in (*READS, *ASKED)},
                "t/artifact.tar": own["t/artifact.tar"],
            },
            outputs=own,
            scratch=scratch,
            project=self.project,
            store=self.folder,
            dist=self.folder,
            trial=which,
        )

    def rule(self, name: str) -> Any:
        value = copy.deepcopy(self.rules.get(name) or Rulebook(None).load(name))
        if name == "limits":
            value["trial"] |= self.trial_limits
            value["query"] |= self.meter
        return value

    def run(self, entry: Mapping[str, Any], index: int = 0, *, ceiling: bool = False) -> Left:
        job = self.job(entry, index, ceiling=ceiling)
        outcome = trial.run(job)
        return Left(job=job, trial=codec.decode(Trial, outcome.evidence))

    def sh(self, line: str) -> Left:
        """A trial of the agent `command`."""
        return self.run(command_entry(line))


def command_entry(line: str) -> dict[str, Any]:
    return {"agent": "command", "model": None, "command": line, "folder": None, "trials": 1}


@dataclass
class Left:
    """What a trial left."""

    job: Job
    trial: Trial

    @property
    def files(self) -> dict[bytes, FileEntry]:
        return {e.path: e for e in read_tar(self.job.outputs["t/artifact.tar"])}

    @property
    def transcript(self) -> dict[str, Any]:
        return dict(json.loads(self.job.outputs["t/transcript.json"].read_bytes()))

    @property
    def queries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.job.outputs["t/queries.jsonl"].read_bytes().splitlines()]

    @property
    def seen(self) -> str:
        text: str = self.transcript["steps"][1]["observation"]["results"][0]["content"]
        return text

    def grade(self) -> Grade:
        shutil.rmtree(self.job.scratch)
        self.job.scratch.mkdir()
        return codec.decode(Grade, grade.run(self.job).evidence)
