"""What a build may buy at most: trials, dollars, wall time.

In: an outlook, how many run side by side. Out: an Estimate. The price of a trial is what its block says by its own
`bound`; one that cannot be told yet is the whole budget. Money that was spent or is held is not there to be spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from programsmith.compiler.asked import asked_usd, may_ask
from programsmith.compiler.cached import PAID
from programsmith.compiler.outlook import Kept, Outlook, Prospect
from programsmith.compiler.passes import assigned, wanted
from programsmith.compiler.paths import Spot
from programsmith.compiler.plan import BASES, Step
from programsmith.compiler.turn import Subject, Turn
from programsmith.records.trial import Assignment
from programsmith.spec.duration import seconds
from programsmith.store.ledger import Ledger, account_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A trial on the way that is expected. `sure`: one that is had already; `likely`: had if all comes as expected."""

    revision: int
    sure: bool
    likely: bool
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """Trials that are `reused` and `bought` on the way that is expected, and the most that any way buys."""

    reused: int
    bought: int
    at_most: int
    usd_at_most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`usd_at_most` is bounded by what the budget leaves, `models` is what each block that a model decides may take.

    Seconds are wall time; `blocks_last` is by the last runs.
    """

    trials: Bought
    models: dict[str, float]
    usd_at_most: float
    budget: float | None
    spent: float
    held: float
    trials_seconds_at_most: float
    blocks_seconds_last: float


def bought(tries: Sequence[Try], opens: int | None, every: Sequence[float], last: int) -> Bought:
    """The trials of the way, and of any way where the revision `opens` is the first with an open word.

    `every` are the prices of all trials that one revision may come to, `last` is the last revision that may be made.
    """
    had = sum(t.sure or t.likely for t in tries)
    count = sum(not t.sure for t in tries)
    usd = sum(t.usd for t in tries if not t.sure)
    if opens is not None:
        before = [t.usd for t in tries if not t.sure and t.revision < opens]
        sure = [t.usd for t in tries if t.sure and t.revision == opens]
        ways = last - opens + 1
        count = len(before) + len(every) * ways - len(sure)
        usd = sum(before) + sum(every) * ways - sum(sure)
    usd = math.inf if count and math.inf in every else usd
    return Bought(reused=had, bought=len(tries) - had, at_most=count, usd_at_most=usd)


def estimate(found: Outlook, workers: int) -> Estimate | None:
    """What a build of the spec may buy; None where the spec cannot be read. Raises InfraError on a damaged ledger."""
    if found.subject is None:
        return None
    subject, prospects = found.subject, found.prospects
    values = subject.values.get("budget", {})
    step = next((step for step in found.steps if _buys(step) and wanted(subject, step)), None)
    last = max(subject.values.get("revisions", {}).get("max", 0), _last(prospects))
    every = [price(subject, step, trial) for trial in _every(subject)] if step else []
    trials = bought([_try(p) for p in prospects if _buys(p.turn.step)], _opens(prospects), every, last)
    running = {p.turn.step.block for p in prospects if p.would_run and p.kept is not Kept.SURE}
    models = asked_usd(subject, found.steps, running, last)
    account = account_of(Ledger(subject.folder.ledger).look())
    left = max(Decimal(0), Decimal(str(values.get("usd") or 0)) - account.spent - account.reserved)
    wall = seconds(values["agent_wall"], "budget.agent_wall") if "agent_wall" in values else 0
    return Estimate(
        trials=trials,
        models=models,
        usd_at_most=min(trials.usd_at_most + sum(models.values()), float(left)),
        budget=values.get("usd"),
        spent=float(account.spent),
        held=float(account.reserved),
        trials_seconds_at_most=math.ceil(trials.at_most / max(1, workers)) * wall,
        blocks_seconds_last=round(sum(_last_seconds(p) for p in prospects if not p.turn.step.per_trial), 3),
    )


def may_cost(subject: Subject, steps: Sequence[Step]) -> bool:
    """Whether any trial that the spec may come to has a price, or any model that decides a block."""
    if may_ask(subject, steps):
        return True
    buying = [step for step in steps if _buys(step) and wanted(subject, step)]
    return any(price(subject, step, trial) > 0 for step in buying for trial in _every(subject))


def price(subject: Subject, step: Step, trial: Assignment) -> float:
    """Dollars that a trial takes at most, by the block's own bound; infinite where it needs what is not there yet."""
    bound = subject.blocks.part(step.block, "bound")
    if bound is None:
        return 0.0
    turn = Turn(subject=subject, step=step, spot=Spot(0, trial.batch, trial), reads=(), records={})
    try:
        return float(bound(turn.job({}, Path(), lambda _line: None)))
    except KeyError:
        return math.inf


def _buys(step: Step) -> bool:
    return step.per_trial and step.block in PAID


def _try(p: Prospect) -> Try:
    """A trial that is known to the store, or is there, is had: for sure where nothing that its key needs is open."""
    assert p.turn.spot.trial is not None
    sure = not p.would_run or p.kept is Kept.SURE
    return Try(
        revision=p.turn.spot.revision or 0,
        sure=sure,
        likely=p.kept is Kept.LIKELY or not p.certain,
        usd=price(p.turn.subject, p.turn.step, p.turn.spot.trial),
    )


def _opens(prospects: Sequence[Prospect]) -> int | None:
    """The first revision in which a word is open."""
    return next((p.turn.spot.revision or 0 for p in prospects if p.undecided), None)


def _last(prospects: Sequence[Prospect]) -> int:
    return max((p.turn.spot.revision or 0 for p in prospects), default=0)


def _every(subject: Subject) -> Iterator[Assignment]:
    """All trials that one revision may come to."""
    for basis in BASES:
        batch = 0
        while found := assigned(subject, basis, batch):
            yield from found
            batch += 1


def _last_seconds(p: Prospect) -> float:
    return p.known.seconds if p.would_run and p.kept is Kept.NO and p.known else 0.0
