"""Monotone passes: how what is due runs.

In: the plan, a walk. Out: the records of a pass. A pass is a plain set of tasks that know only what was settled before
it. A record of an earlier invocation is never believed before its task was checked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from doit.control import TaskControl
from doit.dependency import Dependency
from doit.runner import MThreadRunner
from doit.task import Stream

from programsmith.compiler.origins import note
from programsmith.compiler.paths import DIST, Spot
from programsmith.compiler.plan import ATTACKS, Step, asking, attacker_of
from programsmith.compiler.reporter import Told
from programsmith.compiler.slices import field
from programsmith.compiler.state import Database
from programsmith.compiler.tasks import Attempt, task
from programsmith.compiler.turn import Subject, Turn
from programsmith.compiler.walk import Due, Walk, Ways
from programsmith.errors import ProgramSmithError
from programsmith.records import codec
from programsmith.records.outcome import Record
from programsmith.records.trial import Assignment
from programsmith.verdict.batches import Sizes, assignments, attacks, entries_of
from programsmith.verdict.routes import Go

UNREADABLE = (OSError, ValueError, TypeError, KeyError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What a pass left: each turn's record, None where it has none; the faults of the others; the tasks that ran."""

    records: tuple[Record | None, ...]
    faults: tuple[ProgramSmithError, ...]
    bugs: tuple[Path, ...]
    ran: tuple[str, ...]


def walk_of(subject: Subject, steps: Sequence[Step]) -> Walk:
    """The way of a spec from its start."""

    @cache
    def trials(basis: str, batch: int) -> tuple[Assignment, ...]:
        return assigned(subject, basis, batch)

    def wants(step: Step) -> bool:
        return wanted(subject, step)

    revisions = subject.values.get("revisions", {}).get("max", 0)
    return Walk(
        [asking(step, subject.values) for step in steps],
        Ways(route=subject.route, wants=wants, trials=trials, revisions=revisions),
    )


def wanted(subject: Subject, step: Step) -> bool:
    """Whether the spec has such a step."""
    return not step.when or any(field(subject.values, name) for name in step.when)


def assigned(subject: Subject, basis: str, batch: int) -> tuple[Assignment, ...]:
    """The trials of a batch that the spec asks for, whatever was said so far."""
    values, swept = subject.values, basis == "sweep"
    if basis == ATTACKS:
        return attacks(attacker_of(values)) if batch == 0 else ()
    return assignments(
        entries_of(values["sweep"]) if swept else values["rollouts"],
        None if swept else values["ceiling"],
        batch,
        difficulty=values["difficulty"],
        sizes=Sizes(**subject.rules.load("batches")),
        basis=basis,
    )


def turn_of(subject: Subject, walk: Walk, due: Due) -> Turn:
    """The turn of a task that is due. A closing step gets those of its inputs that exist."""
    folder, step = subject.folder, due.step
    spot = Spot(due.revision if step.per_revision else None, due.batch, due.trial)
    there = walk.written()
    reads = [n for n in step.reads if not step.closes or (n in there and folder.artifact(n, spot).exists())]
    return Turn(
        subject=subject,
        step=step,
        spot=spot,
        reads=tuple(reads),
        records=walk.records(step),
        trials=due.trials,
        exported=folder.exported(outcome_of(folder.verdict)) if DIST in step.writes else None,
    )


def recorded(turn: Turn) -> Record | None:
    """The record on disk, unchecked; None where there is none to read."""
    with suppress(*UNREADABLE):
        return codec.load(turn.record, Record)
    return None


def assumed(turn: Turn, walk: Walk, known: Record | None) -> Record:
    """What a turn that has not run is taken to say: what is known, where that leads anywhere, else what goes on."""
    step, route = turn.step, turn.subject.route
    if known is not None and known.outcome in step.says:
        more = route(step.block, known.outcome) is Go.MORE
        if not more or walk.has_more(step.basis):
            return replace(known)
    word = next((word for word in step.says if turn.subject.goes_on(step.block, word)), step.says[0])
    return Record(block=step.block, outcome=word, reason="", evidence={}, inputs={}, seconds=0.0)


def outcome_of(verdict: Path) -> str:
    """The outcome that a verdict.json states, empty where there is none to read."""
    try:
        return str(codec.load(verdict, dict)["outcome"])
    except UNREADABLE:
        return ""


def run_pass(subject: Subject, due: Sequence[Turn]) -> Passed:
    """Bring the turns up to date, side by side. A fault of one does not stop the others."""
    attempts = {turn.name: Attempt(turn) for turn in due}
    control = TaskControl([task(attempt) for attempt in attempts.values()])
    control.process(None)
    told = Told(attempts, subject.tell)
    state = Dependency(Database, str(subject.folder.database))
    runner = MThreadRunner(state, told, continue_=True, stream=Stream(0), num_process=max(1, subject.workers))
    runner.run_all(control.task_dispatcher())
    ran = {turn.step.block: turn.step for turn in due if turn.name in told.ran}
    if ran:
        note(subject.folder, ran.values(), subject.values, subject.blocks)
    return Passed(
        records=tuple(None if turn.name in told.failed else codec.load(turn.record, Record) for turn in due),
        faults=tuple(a.fault for a in attempts.values() if a.fault is not None),
        bugs=tuple(told.bugs),
        ran=tuple(told.ran),
    )
