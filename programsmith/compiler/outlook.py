"""What a build of a spec would run, and why, as far as it can be known: nothing is run, locked or written.

In: a compiled spec, what doit remembers of it, the store. Out: a prospect for each task in the order of the passes. A
task whose word is not known yet is taken to say what it said last, else what goes on; those behind it depend on it. A
result that the store holds counts as had, so that what follows from it is known too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from programsmith.compiler import causes
from programsmith.compiler.action import record_of
from programsmith.compiler.cached import PAID, PROVES_HOST, key_of
from programsmith.compiler.causes import Cause
from programsmith.compiler.compile import Compiler
from programsmith.compiler.origins import Origin, differences, origin_of, origins
from programsmith.compiler.passes import UNREADABLE, assumed, recorded, turn_of, walk_of
from programsmith.compiler.paths import DIST, Project
from programsmith.compiler.plan import Step
from programsmith.compiler.remembered import Values, remembered
from programsmith.compiler.shadow import Shadow
from programsmith.compiler.slices import NEED, changes
from programsmith.compiler.storage import seen_cache
from programsmith.compiler.tasks import RECORD, Attempt
from programsmith.compiler.turn import Subject, Turn
from programsmith.compiler.walk import Due, Walk
from programsmith.errors import ProgramSmithError
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record
from programsmith.sandboxes.scratch import scratch
from programsmith.store.cache import Hit


class Kept(StrEnum):
    """Whether the store holds what a task would make."""

    NO = "no"
    LIKELY = "likely"  # if what it reads comes out as expected
    SURE = "sure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """One task. `causes` are empty where it is up to date; `certain`: it runs whatever those before it come to.

    `record` is what it is taken to say, and what a build will have where it is `settled`; `known` what it said last,
    `ran` why it last ran. `depends_on` names tasks whose word decides whether it is reached.
    """

    turn: Turn
    causes: tuple[Cause, ...]
    kept: Kept
    record: Record
    settled: bool
    known: Record | None
    ran: str
    depends_on: tuple[str, ...]

    @property
    def name(self) -> str:
        """The task's name."""
        return self.turn.name

    @property
    def would_run(self) -> bool:
        """Whether it would run, for certain or not."""
        return bool(self.causes)

    @property
    def certain(self) -> bool:
        """Whether it runs if it is reached."""
        return any(not cause.task for cause in self.causes)

    @property
    def undecided(self) -> bool:
        """Whether its word is open, and decides what follows."""
        return not self.settled and len(self.turn.step.says) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is to be expected of one spec. Where there is a `fault` the prospects are those that were seen before it.

    `subject` is None where the spec cannot be read at all.
    """

    name: str
    steps: tuple[Step, ...]
    subject: Subject | None
    prospects: tuple[Prospect, ...]
    fault: ProgramSmithError | None = None


def outlook(compiler: Compiler, project: Project, path: Path, *, clean: bool = False) -> Outlook:
    """The outlook of the spec at `path`, broken or not. `clean`: a stamp says that none of its tasks would run."""
    subject: Subject | None = None
    found: list[Prospect] = []
    fault: ProgramSmithError | None = None
    try:
        subject = compiler.subject(project, path)
        with scratch("look") as place:
            for prospect in Looking(compiler, subject, Path(place), clean=clean).prospects():
                found.append(prospect)  # noqa: PERF402 - what was seen before a fault counts
    except ProgramSmithError as known:
        fault = known
    return Outlook(name=path.stem, steps=compiler.steps, subject=subject, prospects=tuple(found), fault=fault)


class Looking:
    """One look at a spec. `place` is a folder that takes what the store holds, for as long as the look takes."""

    def __init__(self, compiler: Compiler, subject: Subject, place: Path, *, clean: bool) -> None:
        self._clean = clean
        folder = subject.folder
        self._folder = Shadow(folder.project, folder.name, place)
        self._subject = replace(subject, folder=self._folder)
        self._steps = compiler.steps
        self._saved = remembered(folder.database)
        self._origins = origins(folder)
        self._store = seen_cache(folder.project) if subject.cache else None
        self._anew: dict[Path, str] = {}  # artifact to the task that would make it anew
        self._fresh: dict[int, tuple[Record, str]] = {}  # records that are not what a build will have, by identity
        self._now: dict[str, Origin] = {}

    def prospects(self) -> Iterator[Prospect]:
        """Every task, pass after pass. Raises InputError."""
        walk = walk_of(self._subject, self._steps)
        waits: tuple[str, ...] = ()
        while due := walk.due():
            found = [self._prospect(one, walk, waits) for one in due]
            yield from found
            for one, prospect in zip(due, found, strict=True):
                walk.settle(one, prospect.record)
            waits = tuple(p.name for p in found if p.undecided) or waits
            walk.advance()

    def _prospect(self, due: Due, walk: Walk, waits: tuple[str, ...]) -> Prospect:
        turn = self._turn(due, walk)
        saved, known = self._saved.get(turn.name, {}), recorded(turn)
        ran = str(saved.get("because", ""))
        if self._clean and known is not None:
            return Prospect(
                turn=turn, causes=(), kept=Kept.NO, record=known, settled=True, known=known, ran=ran, depends_on=()
            )
        attempt = Attempt(turn)
        open_ = self._open(attempt)
        because = tuple(self._because(attempt, saved, open_))
        if known is None and not because:
            because = (Cause(name=RECORD, text=causes.altered(RECORD, there=turn.record.exists())),)
        kept, found = self._kept(attempt, because, open_)
        record = known if not because else found if kept is Kept.SURE and not open_ else None
        settled = record is not None
        record = record or assumed(turn, walk, found or known)
        if not settled:
            self._unsettle(turn, record, kept)
        return Prospect(
            turn=turn,
            causes=because,
            kept=kept,
            record=record,
            settled=settled,
            known=known,
            ran=ran,
            depends_on=waits,
        )

    def _turn(self, due: Due, walk: Walk) -> Turn:
        """The turn, with what it reads that is gone and would be made anew."""
        turn, there = turn_of(self._subject, walk, due), walk.written()
        path = self._folder.artifact
        reads = [n for n in turn.step.reads if n in turn.reads or (n in there and path(n, turn.spot) in self._anew)]
        return replace(turn, reads=tuple(reads))

    def _open(self, attempt: Attempt) -> dict[str, str]:
        """Causes of the turn that are not what a build will find, with the tasks that make them."""
        turn = attempt.turn
        found = {name: self._anew[path] for name, path in turn.inputs.items() if path in self._anew}
        known = self._fresh
        fresh = {name: known[id(record)][1] for name, record in turn.records.items() if id(record) in known}
        if fresh and NEED in attempt.slice:
            return {**found, NEED: next(iter(fresh.values()))}
        return found | {f"record {name}": task for name, task in fresh.items()}

    def _because(self, attempt: Attempt, saved: Values, open_: Mapping[str, str]) -> Iterator[Cause]:
        before, turn = saved.get("slice"), attempt.turn
        altered = attempt.altered(saved)
        if not isinstance(before, dict) or altered is None:
            yield Cause(name="", text=causes.NEVER)
            return
        for name in changes(before, attempt.slice):
            if name not in open_:
                details = self._details(turn, name, before.get(name))
                yield Cause(name=name, text=causes.changed(name, before.get(name), attempt.slice.get(name), details))
        for path in altered:
            name = next(name for name, target in attempt.targets().items() if target == path)
            yield Cause(name=name, text=causes.altered(name, there=path.exists()))
        yield from (Cause(name=n, text=causes.anew(n, task), task=task) for n, task in open_.items())

    def _details(self, turn: Turn, cause: str, digest: str | None) -> list[str]:
        block, subject = turn.step.block, self._subject
        if block not in self._origins:
            return []
        if block not in self._now:
            self._now[block] = origin_of(turn.step, subject.values, subject.blocks)
        return differences(cause, digest, self._origins[block], self._now[block])

    def _kept(self, attempt: Attempt, because: Sequence[Cause], open_: Mapping[str, str]) -> tuple[Kept, Record | None]:
        """What the store holds for the task, laid where the task would have it.

        It is sure to be taken where no input is open, or where a key of the block's own needs none that is. A task
        that may yet be up to date is asked about only where it would be paid for.
        """
        turn, block = attempt.turn, attempt.turn.step.block
        if not because or DIST in turn.step.writes:
            return Kept.NO, None
        host, paid = block in PROVES_HOST, block in PAID and turn.subject.blocks.part(block, "key") is not None
        if open_ and paid and (found := self._looked(attempt, open_)):
            return Kept.SURE, found
        if all(cause.task for cause in because):
            return Kept.NO, None
        found = self._looked(attempt, ())
        return (Kept.NO if found is None or host else Kept.LIKELY if open_ else Kept.SURE), found

    def _looked(self, attempt: Attempt, hidden: Collection[str]) -> Record | None:
        """The store's record for the turn by a key that needs none of the inputs that are `hidden`."""
        turn = attempt.turn
        if self._store is None:
            return None
        folder = self._folder.fresh()
        places = {name: folder / str(i) for i, name in enumerate(turn.step.writes)}
        try:
            job = turn.job(places, self._folder.fresh(), lambda _line: None)
            job = replace(job, inputs={name: path for name, path in job.inputs.items() if name not in hidden})
            found = self._store.look(key_of(turn, job, attempt.slice), places)
        except (*UNREADABLE, ProgramSmithError):
            return None
        return self._laid(turn, found, places) if isinstance(found, Hit) else None

    def _laid(self, turn: Turn, found: Hit, places: Mapping[str, Path]) -> Record:
        """The record; the artifacts are laid, but for those of a block that asks this host and has asked it before."""
        outcome = codec.decode(Outcome, found.outcome["outcome"])
        record = record_of(turn, outcome, turn.artifacts(), float(found.outcome["seconds"]))
        for name, path in turn.outputs.items():
            if turn.step.block not in PROVES_HOST or not path.exists():
                self._folder.lay(path, places[name])
        return record

    def _unsettle(self, turn: Turn, record: Record, kept: Kept) -> None:
        """Remember that the turn's record, and unless they are sure its artifacts, are not what a build will have."""
        self._fresh[id(record)] = record, turn.name
        if kept is not Kept.SURE:
            self._anew |= dict.fromkeys(turn.outputs.values(), turn.name)
