"""Running a block: in a slot of the machine, within the budget, again where infra ended it.

In: a turn, its job and key. Out: the block's answer and the seconds of the attempt that gave it. A block that may cost
says how much at most by its own `bound(job)`, in dollars; it is reserved before, and closed with `usd` of the evidence
when the answer is published: what the ledger says was bought is never bought again, whenever a run is killed. What was
published by a run that was killed before it closed its reservation says whose that is, and the next run closes it. So
does the gateway's record of the calls that were made under a reservation: an attempt that broke is billed for these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from programsmith.compiler.cached import CALL, PAID, Ran
from programsmith.compiler.turn import Subject, Turn
from programsmith.errors import InfraError
from programsmith.gateway.record import settled
from programsmith.job import Job
from programsmith.records.outcome import Outcome
from programsmith.store.backend import NAME
from programsmith.store.budget import Budget
from programsmith.store.ledger import Event, Kind, Ledger, account_of
from programsmith.store.retry import retried
from programsmith.store.slots import slot
from programsmith.store.twin import twinned

SLOTS = "blocks"


@contextmanager
def block_run(turn: Turn, job: Job, key: str, clear: Callable[[], None]) -> Iterator[Ran]:
    """Run the block until it answers; the caller publishes that inside. `clear` removes what a broken attempt left.

    Raises BudgetError before anything is spent, InfraError after the last attempt.
    """
    with ExitStack() as closing:
        yield _answered(turn, job, key, clear, closing)


def reckoned(subject: Subject) -> None:
    """Close what a killed run left open and it is known what it took: nothing, or what the store or a record says.

    The spec's lock is held. A damaged ledger is left to who buys.
    """
    try:
        held = account_of(Ledger(subject.folder.ledger).look()).held
    except InfraError:
        return
    for event in held:
        took = _told(subject, event)
        kind = Kind.SETTLE if took is None else Kind.SPEND
        took = _billed(subject, event) if took is None else took
        if took is not None or not event.usd:
            twinned(*subject.folder.ledgers)
            Budget(ledger=Ledger(subject.folder.ledger), usd=None).close(event, kind, took or 0.0)


def _told(subject: Subject, event: Event) -> float | None:
    """What a reserved call took by the answer that the store has of it; None where it has none, or another's."""
    cache = subject.cache() if subject.cache and NAME.fullmatch(event.key) else None
    known = cache.peek(event.key) if cache else None
    if known is None or known.get(CALL, "" if event.usd else event.id) != event.id:
        return None
    return float(known["outcome"]["evidence"].get("usd", 0.0))


def _billed(subject: Subject, event: Event) -> float | None:
    """What the calls under a reservation took by the gateway's record; None where it has none, or a damaged one."""
    if not event.id.isalnum():
        return None
    try:
        calls = settled(subject.folder.calls(event.id))
    except InfraError:
        return None
    return None if calls is None else float(calls.usd)


def _answered(turn: Turn, job: Job, key: str, clear: Callable[[], None], closing: ExitStack) -> Ran:
    attempts = 0

    def once() -> Ran:
        nonlocal attempts
        attempts += 1
        clear()
        fresh = replace(job, scratch=job.scratch / str(attempts))
        fresh.scratch.mkdir()
        with slot(job.store / "slots", SLOTS, turn.subject.workers):
            started = time.monotonic()
            outcome, call = _bought(turn, fresh, key, closing)
            return Ran(outcome=outcome, seconds=time.monotonic() - started, call=call)

    return retried(once, turn.subject.retries, job.say, time.sleep)


def _bought(turn: Turn, job: Job, key: str, closing: ExitStack) -> tuple[Outcome, str]:
    """The answer, and the reservation of what could cost."""
    run = turn.subject.blocks.run(turn.step.block)
    if turn.step.block not in PAID:
        return run(job), ""
    bound: Callable[[Job], float] | None = turn.subject.blocks.part(turn.step.block, "bound")
    twinned(*turn.subject.folder.ledgers)
    budget = Budget(ledger=Ledger(turn.subject.folder.ledger), usd=turn.subject.values.get("budget", {}).get("usd"))
    with ExitStack() as attempt:
        call = budget.reserve(turn.name, key, bound(job) if bound else 0.0)
        took = attempt.enter_context(budget.closing(call))
        try:
            outcome = run(replace(job, calls=turn.subject.folder.calls(call.id)))
        except BaseException:
            billed = _billed(turn.subject, call)
            took.extend([] if billed is None else [billed])
            raise
        took.append(float(outcome.evidence.get("usd", 0.0)))
        closing.push(attempt.pop_all())
        return outcome, call.id if call.usd else ""
