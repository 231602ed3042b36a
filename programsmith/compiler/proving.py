"""The verb `prove`: a built environment, proven once more in another backend than its build took.

In: a backend, specs that are built and up to date. Out: the revision's place made there, its controls and checks run
there, every control with the numbers that it had before; the proof in proven.json, and by a build of what reads it in
verdict.json and dist/. Nothing of the build itself is touched: what is made here lies in a folder that goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from programsmith.compiler import proven
from programsmith.compiler.compile import Compiler
from programsmith.compiler.events import Event, Kind
from programsmith.compiler.faults import Caught
from programsmith.compiler.finished import built, rebuilt
from programsmith.compiler.leftovers import reap_shared, recorded
from programsmith.compiler.loader import asked_specs
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.paths import Folder, Project
from programsmith.compiler.proven import CONTROLS, PLACE, PROVING
from programsmith.compiler.turn import Turn
from programsmith.compiler.view import Plain
from programsmith.errors import Exit, InputError
from programsmith.job import Tracked
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record
from programsmith.sandboxes.base import BUBBLEWRAP, DOCKER

WORD = "sandbox"
KINDS = (DOCKER, BUBBLEWRAP)
COMPARED = ("reward", "word", "held_out_passed", "public_passed", "failing")
"""What a control must come to in either backend."""
DIGITS = 12


def prove(args: Sequence[str], start: Path, *, workers: int, compiler: Compiler | None = None) -> Exit:
    """Prove the specs that `args` ask for, one after the other. Every error ends here, in a line and a code."""
    with Caught() as caught:
        kind, rest = _kind(args)
        asked = asked_specs(rest, start)
        if workers < 1:
            raise InputError(f"-n {workers}: wanted a number of workers from 1 up")
        check_premises(asked.project)
        reap_shared()
        proving = Proving(compiler or Compiler(), asked.project, kind, workers)
        codes = {proving.one(path) for path in asked.files}
        return Exit.worst(codes | {proving.record()})
    return caught.code or Exit.OK


def _kind(args: Sequence[str]) -> tuple[str, list[str]]:
    """The backend that is asked for, and the other words. Raises InputError."""
    given = [word for word in args if word.startswith(f"{WORD}=")]
    kind = "".join(given).removeprefix(f"{WORD}=")
    if kind not in KINDS:
        wanted = " or ".join(f"{WORD}={known}" for known in KINDS)
        raise InputError(f"prove: wanted {wanted}, got {' '.join(given) or 'neither'}")
    return kind, [word for word in args if word not in given]


class Proving:
    """Specs of one project, to be proven in one backend."""

    def __init__(self, compiler: Compiler, project: Project, kind: str, workers: int) -> None:
        self._compiler = compiler
        self._project = project
        self._kind = kind
        self._workers = workers
        self._new: list[str] = []

    def one(self, path: Path) -> Exit:
        """Prove one spec and print how it went. Whatever it meets is told and becomes the code."""
        folder, code = self._project.folder(path.stem), Exit.OK
        with Caught(folder.root / "logs", path.stem) as caught:
            revision = built(self._compiler, self._project, path, "prove").revision
            with held(folder), recorded(folder):
                turns = self._turns(path, revision)
                own = said(turns[PLACE])
                if own.evidence["kind"] == self._kind:
                    return self._say(path, "proven", f"{self._kind}, by its build")
                fault, fingerprint = self._tried(turns, folder)
                if fault:
                    Plain().show(Event(kind=Kind.SAID, spec=path.stem, text=f"{self._kind}: {fault}"))
                    self._say(path, "unproven", str(self._log(folder)))
                    code = Exit.ENDED
                else:
                    proven.keep(folder, self._kind, self._proof(own, fingerprint))
                    self._new.append(path.stem)
                    self._say(path, "proven", f"{self._kind} {fingerprint[:DIGITS]}")
        return code if caught.code is None else caught.code

    def record(self) -> Exit:
        """Build what reads the new proofs."""
        return rebuilt(self._compiler, self._project, self._new, self._workers)

    def _proof(self, own: Record, fingerprint: str) -> dict[str, str]:
        today = self._compiler.decided(self._compiler.rules(self._project.root))
        return {"bundle": own.inputs[proven.BUNDLE], "fingerprint": fingerprint, "decided": today}

    @staticmethod
    def _say(path: Path, word: str, text: str) -> Exit:
        print(f"{path.stem}  {word}  {text}", flush=True)
        return Exit.OK

    def _log(self, folder: Folder) -> Path:
        return folder.root / "logs" / f"prove.{self._kind}.log"

    def _turns(self, path: Path, revision: int) -> dict[str, Turn]:
        """The turns of that revision which prove it, by block."""
        subject = self._compiler.subject(self._project, path, self._workers)
        turns = [turn for turn in self._compiler.view(subject) if turn.spot.revision == revision]
        return {turn.step.block: turn for turn in turns if turn.step.block in PROVING}

    def _tried(self, turns: Mapping[str, Turn], folder: Folder) -> tuple[str, str]:
        """What speaks against it, empty where nothing does; the place's fingerprint. Raises what a block raises."""
        made: dict[str, Path] = {}
        fingerprint, place = "", folder.scratch / "prove"
        with self._log(folder).open("w", encoding="utf-8") as log:
            for block in PROVING:
                turn = turns[block]
                outcome = self._ran(turn, place / block, made, lambda line: print(line, file=log, flush=True))
                print(f"{block}: {outcome.word}: {outcome.reason}", file=log, flush=True)
                if not turn.subject.goes_on(block, outcome.word):
                    return f"{block} says {outcome.word}: {outcome.reason}", ""
                if block == PLACE:
                    fingerprint = outcome.evidence["fingerprint"]
                if block == CONTROLS and (odd := different(said(turn).evidence, outcome.evidence)):
                    print(odd, file=log, flush=True)
                    return odd, ""
        return "", fingerprint

    def _ran(self, turn: Turn, place: Path, made: dict[str, Path], say: Callable[[str], None]) -> Outcome:
        """Run a block in the backend. What it writes is read by those behind it, in place of what the build made."""
        outputs = {name: place / "out" / name.rstrip("/") for name in turn.step.writes}
        for path in outputs.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        (place / "scratch").mkdir(parents=True)
        job = turn.job(outputs, place / "scratch", say)
        values = {**turn.subject.values, WORD: self._kind}
        inputs = {name: made.get(name, path) for name, path in job.inputs.items()}
        there = replace(job, spec=Tracked("spec field", values, turn.step.spec), inputs=inputs)
        outcome = turn.subject.blocks.run(turn.step.block)(there)
        made.update(outputs)
        return outcome


def said(turn: Turn) -> Record:
    """What the build recorded of a turn."""
    return codec.load(turn.record, Record)


def different(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """In which control two runs of the controls differ, as one line; empty where in none."""
    ours, theirs = ({row["id"]: row for row in said["controls"]} for said in (before, now))
    for name in sorted(ours.keys() | theirs.keys()):
        rows = ours.get(name, {}), theirs.get(name, {})
        if odd := next((key for key in COMPARED if rows[0].get(key) != rows[1].get(key)), None):
            return f"{name}: {odd} is {rows[1].get(odd)!r}, was {rows[0].get(odd)!r} where it was built"
    return ""
