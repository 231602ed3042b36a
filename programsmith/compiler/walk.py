"""A spec's way through revisions and batches: what is settled, and what is due next.

In: the plan, the routes, the trials that a batch holds, how many revisions may be made; then record after record. Out:
what the next pass holds. Pure. Nothing is due but what settled records lead to: the first word that does not continue
ends its revision, a further batch comes only after `more`, a further revision only after the step that revises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from programsmith.compiler.plan import EVERY, Step, of_trial
from programsmith.records.outcome import Record, Word
from programsmith.records.trial import Assignment
from programsmith.verdict.routes import Go

Route = Callable[[str, Word], Go]
Trials = Callable[[str, int], Sequence[Assignment]]
NEXT, THIS, ONE = "next/", "r/", "t/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One task: a step in a revision, in a batch, of a trial. `trials` are all that it brings together."""

    step: Step
    revision: int
    batch: int | None = None
    trial: Assignment | None = None
    trials: tuple[Assignment, ...] = ()

    @property
    def key(self) -> str:
        """Its name among the records of a revision: the block, and which trial."""
        return f"{self.step.block}:{self.trial.name}" if self.trial else self.step.block


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What decides where a walk leads. `trials` are those of a basis that a batch adds."""

    route: Route
    wants: Callable[[Step], bool]
    trials: Trials
    revisions: int


class Walk:
    """Where one spec stands. `settled` are records of this revision: of a step in batches, the last batch's."""

    def __init__(self, steps: Sequence[Step], ways: Ways) -> None:
        self._ways = ways
        self._steps = tuple(step for step in steps if ways.wants(step))
        self._at = {step.block: i for i, step in enumerate(self._steps)}
        self.revision = 0
        self.settled: dict[str, Record] = {}
        self._tried: dict[str, Record] = {}
        self._given: set[str] = set()
        self._batch = {step.basis: 0 for step in self._steps if step.basis}

    def due(self) -> tuple[Due, ...]:
        """The tasks of the next pass; empty when the spec is done."""
        closing = [step for step in self._steps if step.closes]
        if closing and all(step.block in self.settled for step in closing):
            rest = self._steps[self._at[closing[0].block] :]
            return tuple(self._ready(rest)) if self._stop(rest) is None else ()
        stop = self._stop(self._steps)
        if stop is None:
            ready = tuple(self._ready(step for step in self._steps if not self._last(step)))
            return ready or self._alone(closing)
        revising = [step for step in self._steps if step.revises and step.block not in self.settled]
        again = stop is Go.SYNTHESIZE and self.revision < self._ways.revisions
        return self._alone(revising if again and revising else closing)

    def settle(self, due: Due, record: Record) -> None:
        """Take in the record of a task that was due."""
        (self._tried if due.trial else self.settled)[due.key] = record

    def advance(self) -> None:
        """Go to the next batch, or to the next revision, where the settled words lead there.

        Raises RuntimeError where a block wants more trials and the spec has none left.
        """
        for step in self._steps:
            if step.block in self.settled and self._go(step) is Go.MORE:
                self._to_next_batch(step.basis)
            if step.revises and step.block in self.settled and self._go(step) is Go.CONTINUE:
                self._to_next_revision(step)
                return

    def has_more(self, basis: str) -> bool:
        """Whether a further batch of a basis would hold any trials."""
        return bool(self._ways.trials(basis, self._batch[basis] + 1))

    def written(self) -> set[str]:
        """Artifacts that settled steps may have written."""
        return self._given | {name for step in self._steps if step.block in self.settled for name in step.writes}

    def records(self, step: Step) -> dict[str, Record]:
        """What `step` gets of the records."""
        if step.records == EVERY:
            return dict(self.settled)
        own = {name: self.settled[name] for name in step.records if name in self.settled}
        asked = {trial.name for trial in self._asked(step.basis)} if step.basis else set()
        every = step.basis != "" and self._judges(step)
        tried = {k: r for k, r in self._tried.items() if every and k.partition(":")[2] in asked}
        return own | tried

    def _last(self, step: Step) -> bool:
        """Whether the step comes only when the revision is decided."""
        at = next((i for i, known in enumerate(self._steps) if known.closes), len(self._steps))
        return step.revises or self._at[step.block] >= at

    def _alone(self, steps: Sequence[Step]) -> tuple[Due, ...]:
        return tuple(Due(step=step, revision=self.revision) for step in steps)

    def _go(self, step: Step) -> Go:
        return self._ways.route(step.block, self.settled[step.block].outcome)

    def _stop(self, steps: Iterable[Step]) -> Go | None:
        """Where the first word leads that does not continue; the word of the step that revises does not count."""
        judged = (step for step in steps if step.block in self.settled and not step.revises)
        return next((go for step in judged if (go := self._go(step)) is not Go.CONTINUE), None)

    def _ready(self, steps: Iterable[Step]) -> Iterator[Due]:
        there = self.written()
        for step in steps:
            made = step.writes and set(step.writes) <= there
            if step.block in self.settled or step.per_trial or step.revises or made or not self._open(step, there):
                continue
            yield from self._of(step, there)

    def _open(self, step: Step, there: set[str]) -> bool:
        """Whether all that the step waits for is there, but for trials."""
        reads = {name for name in step.reads if not name.startswith(ONE)}
        waits = [name for name in (*step.after, *step.records) if name in self._at]
        settled = all(name in self.settled or self._step(name).per_trial for name in waits)
        return reads <= there and (settled or step.closes)

    def _of(self, step: Step, there: set[str]) -> Iterator[Due]:
        """The step itself, or the trials and grades that it waits for."""
        if not step.basis:
            yield Due(step=step, revision=self.revision)
            return
        asked = self._asked(step.basis) if self._judges(step) else ()
        for name in [name for name in step.records if name in self._at and self._step(name).per_trial]:
            wanting = [trial for trial in asked if f"{name}:{trial.name}" not in self._tried]
            if wanting:
                yield from self._each(self._step(name), wanting, there)
                return
        batch = None if step.attacks else self._batch[step.basis]
        yield Due(step=step, revision=self.revision, batch=batch, trials=tuple(asked))

    def _each(self, step: Step, trials: Sequence[Assignment], there: set[str]) -> Iterator[Due]:
        if self._open(step, there):
            yield from (Due(step=of_trial(step, t), revision=self.revision, batch=t.batch, trial=t) for t in trials)

    def _judges(self, step: Step) -> bool:
        return any(name in self._at and self._step(name).per_trial for name in step.records)

    def _asked(self, basis: str) -> list[Assignment]:
        """Trials of a basis up to its batch."""
        return [trial for batch in range(self._batch[basis] + 1) for trial in self._ways.trials(basis, batch)]

    def _step(self, block: str) -> Step:
        return self._steps[self._at[block]]

    def _to_next_batch(self, basis: str) -> None:
        if not self.has_more(basis):
            raise RuntimeError(f"{basis}: more trials are wanted after batch {self._batch[basis]}; none are left")
        self._batch[basis] += 1
        for step in self._steps:
            if step.basis == basis:
                self.settled.pop(step.block, None)

    def _to_next_revision(self, revising: Step) -> None:
        self.revision += 1
        self._given = {name.replace(NEXT, THIS, 1) for name in revising.writes if name.startswith(NEXT)}
        self.settled = {name: record for name, record in self.settled.items() if not self._step(name).per_revision}
        self._tried = {}
        self._batch = dict.fromkeys(self._batch, 0)
