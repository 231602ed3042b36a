"""Monotone passes: which steps the next pass holds, and how a pass runs.

In: the plan, what is settled in this invocation. Out: the records of a revision. A pass holds only steps whose inputs
are settled and continued; the first word that does not continue ends the revision, and the step that closes it runs
over the records settled so far. A record of an earlier invocation is never believed before its task was checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from doit.control import TaskControl
from doit.dependency import Dependency
from doit.runner import MThreadRunner
from doit.task import Stream

from programsmith.compiler.paths import DIST
from programsmith.compiler.plan import Step
from programsmith.compiler.reporter import Lines
from programsmith.compiler.state import Database
from programsmith.compiler.tasks import Attempt, task
from programsmith.compiler.turn import Subject, Turn
from programsmith.errors import ProgramSmithError
from programsmith.records import codec
from programsmith.records.outcome import Record, Word

GoesOn = Callable[[str, Word], bool]


def frontier(steps: Sequence[Step], settled: Mapping[str, Record], goes_on: GoesOn) -> tuple[Step, ...]:
    """The steps of the next pass; empty when the revision is over."""
    at = next((i for i, step in enumerate(steps) if step.closes), len(steps))
    before, closing, after = steps[:at], steps[at : at + 1], steps[at + 1 :]
    if all(step.block in settled for step in closing) and closing:
        return _ready(after, steps, settled) if _all_go_on((*closing, *after), settled, goes_on) else ()
    if not _all_go_on(before, settled, goes_on):
        return tuple(closing)
    return _ready(before, steps, settled) or tuple(closing)


def _all_go_on(steps: Sequence[Step], settled: Mapping[str, Record], goes_on: GoesOn) -> bool:
    return all(goes_on(step.block, settled[step.block].outcome) for step in steps if step.block in settled)


def _ready(some: Sequence[Step], steps: Sequence[Step], settled: Mapping[str, Record]) -> tuple[Step, ...]:
    there = written(steps, settled)
    return tuple(step for step in some if step.block not in settled and set(step.reads) <= there)


def written(steps: Sequence[Step], settled: Mapping[str, Record]) -> set[str]:
    """Artifacts that settled steps may have written."""
    return {name for step in steps if step.block in settled for name in step.writes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What a pass left: the records of the tasks that hold, the faults of the others, the tasks that ran."""

    records: Mapping[str, Record]
    faults: tuple[ProgramSmithError, ...]
    bugs: tuple[Path, ...]
    ran: tuple[str, ...]


def turns(subject: Subject, steps: Sequence[Step], settled: Mapping[str, Record], revision: int) -> list[Turn]:
    """The turns of the next pass. A closing step gets those of its inputs that exist."""
    due = frontier(steps, settled, subject.goes_on)
    there = {n for n in written(steps, settled) if subject.folder.artifact(n, revision).exists()}
    return [_turn(subject, step, settled if step.closes or step.records else {}, there, revision) for step in due]


def _turn(subject: Subject, step: Step, records: Mapping[str, Record], there: set[str], revision: int) -> Turn:
    folder = subject.folder
    place = folder.exported(outcome_of(folder.verdict)) if DIST in step.writes else None
    reads = tuple(name for name in step.reads if name in there or not step.closes)
    return Turn(subject=subject, step=step, revision=revision, reads=reads, records=dict(records), exported=place)


def outcome_of(verdict: Path) -> str:
    """The outcome that a verdict.json states, empty where there is none to read."""
    try:
        return str(codec.load(verdict, dict)["outcome"])
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def run_pass(subject: Subject, due: Sequence[Turn]) -> Passed:
    """Bring the turns up to date, side by side. A fault of one does not stop the others."""
    attempts = {turn.name: Attempt(turn) for turn in due}
    control = TaskControl([task(attempt) for attempt in attempts.values()])
    control.process(None)
    lines = Lines(attempts)
    state = Dependency(Database, str(subject.folder.database))
    runner = MThreadRunner(state, lines, continue_=True, stream=Stream(0), num_process=max(1, subject.workers))
    runner.run_all(control.task_dispatcher())
    return Passed(
        records={
            a.turn.step.block: codec.load(a.turn.record, Record) for n, a in attempts.items() if n not in lines.failed
        },
        faults=tuple(a.fault for a in attempts.values() if a.fault is not None),
        bugs=tuple(lines.bugs),
        ran=tuple(lines.ran),
    )
