"""Idle blocks for the real plan: each writes what its row says, at once, and says a word that is set here.

The spec goes through a second batch and a second revision: calibrate says `more`, then `harden`, then `in_band`. A
record says something else in each run, whose number it holds; an artifact keeps its bytes unless `others` is set, and
so does what is asked of the next revision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from programsmith.compiler.plan import STEP, Step
from programsmith.compiler.reruns import STAMPS
from programsmith.compiler.slices import NEED, Blocks
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record, Word

MANIFEST = "r/manifest.json"
FIRST = 1
"""The number of the run before which nothing was built."""


class IdleBlocks(Blocks):
    """The blocks of the plan without their work. The payload is a folder that holds nothing."""

    def __init__(self, empty: Path) -> None:
        super().__init__()
        self._empty = empty
        self.number = 0
        self.others = True

    def run(self, block: str) -> Callable[[Job], Outcome]:
        return lambda job: self._idle(STEP[block], job)

    def part(self, block: str, name: str) -> Any:
        return _need if (block, name) == ("synthesize", NEED) else None

    def digest(self, block: str) -> str:
        return block

    def payload(self, name: str) -> Path:
        return self._empty

    def _idle(self, step: Step, job: Job) -> Outcome:
        for artifact, path in job.outputs.items():
            self._write(artifact, path, job)
        evidence = {"run": self.number, NEED: self.number if self.others else FIRST, **_seen(step, job)}
        return Outcome(word=_word(step, evidence), reason="", evidence=evidence)

    def _write(self, artifact: str, path: Path, job: Job) -> None:
        former = path.with_name(path.name.removesuffix(".part"))
        text = f"{'r1' if artifact.startswith('next/') else 'r0'} {self.number}"
        if artifact.endswith("/"):
            path.mkdir()
            former, path = former / "file", path / "file"
        if artifact in STAMPS:
            path.write_text(job.inputs[MANIFEST].read_text())
        elif former.exists() and not self.others:
            path.write_bytes(former.read_bytes())
        elif artifact == "verdict.json":
            codec.dump(path, {"outcome": "ship", "run": self.number})
        else:
            path.write_text(text)


def _need(records: Mapping[str, Record], rules: object) -> dict[str, Any]:
    """What a record asks of the next revision: what its run of the block that said it put there for that."""
    del rules
    return {name: record.evidence[NEED] for name, record in records.items()}


def _seen(step: Step, job: Job) -> dict[str, Any]:
    """In which revision and how late in it a judgement is made: handed on from record to record."""
    match step.block:
        case "rollouts":
            return {"batch": max(trial.batch for trial in job.trials)}
        case "triage":
            revision = job.inputs[MANIFEST].read_text().split()[0]
            return {"batch": job.records["rollouts"].evidence["batch"], "revision": revision}
        case "calibrate":
            return {name: job.records["triage"].evidence[name] for name in ("batch", "revision")}
        case _:
            return {}


def _word(step: Step, seen: dict[str, Any]) -> Word:
    match step.block, seen.get("revision"), seen.get("batch"):
        case "calibrate", "r0", batch:
            return Word.HARDEN if batch else Word.MORE
        case "gate", _, _:
            return Word.SHIP
        case _:
            return step.says[0]
