"""One spec's revisions, pass after pass, to its verdict.

In: the plan, a spec. Out: its records, its verdict, its bundle on the shelf that the verdict names, and the answer for
the user. The spec's lock is held by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from programsmith.bundle.dataset import withdraw
from programsmith.compiler.bought import reckoned
from programsmith.compiler.early import nothing_to_do
from programsmith.compiler.events import Event, Kind
from programsmith.compiler.leftovers import recorded
from programsmith.compiler.passes import Passed, outcome_of, run_pass, turn_of, walk_of
from programsmith.compiler.paths import SHELVES
from programsmith.compiler.plan import TRIED, Step
from programsmith.compiler.turn import Subject
from programsmith.errors import BudgetError, Exit

DRAFT, SHIP = "draft", "ship"
EXPORTED = frozenset({SHIP, *SHELVES})  # outcomes that leave a bundle; under any other what an earlier one left is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a build of one spec came to. `ran` are the tasks that ran."""

    name: str
    outcome: str
    where: Path
    exit: Exit
    ran: tuple[str, ...]


def build_spec(steps: Sequence[Step], subject: Subject) -> Answer:
    """Pass after pass until none is left. The spec's lock is held by the caller."""
    with recorded(subject.folder):
        reckoned(subject)
        return _passes(steps, subject)


def look_at(subject: Subject, seen: int) -> Answer:
    """The answer of a spec whose `seen` tasks a look has shown to be up to date. Its lock is held by the caller."""
    with recorded(subject.folder):
        reckoned(subject)
        subject.tell(Event(kind=Kind.SAID, spec=subject.folder.name, text=nothing_to_do(seen)))
        return _answer(subject, ())


def _passes(steps: Sequence[Step], subject: Subject) -> Answer:
    walk = walk_of(subject, steps)
    ran: list[str] = []
    seen = 0
    while due := walk.due():
        passed = run_pass(subject, [turn_of(subject, walk, one) for one in due])
        ran += passed.ran
        seen += len(due)
        if passed.faults or passed.bugs:
            return _broken(subject, passed, tuple(ran))
        for one, record in zip(due, passed.records, strict=True):
            if record is not None:
                walk.settle(one, record)
        walk.advance()
    if not ran:
        subject.tell(Event(kind=Kind.SAID, spec=subject.folder.name, text=nothing_to_do(seen)))
    return _answer(subject, tuple(ran))


def _broken(subject: Subject, passed: Passed, ran: tuple[str, ...]) -> Answer:
    fault = max(passed.faults, key=lambda f: f.exit, default=None)
    outcome = fault.kind if fault else "bug"
    where = passed.bugs[0] if passed.bugs else subject.folder.root / "logs"
    if isinstance(fault, BudgetError):
        where = subject.folder.ledger
    code = fault.exit if fault else Exit.INFRA
    return Answer(name=subject.folder.name, outcome=outcome, where=where, exit=code, ran=ran)


def _answer(subject: Subject, ran: tuple[str, ...]) -> Answer:
    outcome = outcome_of(subject.folder.verdict)
    place = subject.folder.exported(outcome)
    exported = outcome in EXPORTED and place.is_dir()
    withdraw(subject.folder.project.dist, place if exported else subject.folder.root)
    wants_trials = any(subject.values.get(name) for name in TRIED)
    good = outcome == SHIP or (outcome == DRAFT and not wants_trials)
    where = place if exported else subject.folder.verdict
    return Answer(name=subject.folder.name, outcome=outcome, where=where, exit=Exit.OK if good else Exit.ENDED, ran=ran)
