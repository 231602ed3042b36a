"""Running a block: in a slot of the machine, within the budget, again where infra ended it.

In: a turn, its job and key. Out: the block's answer and the seconds of the attempt that gave it. A block that may cost
says how much at most by its own `bound(job)`, in dollars; it is reserved before, and closed with `usd` of the evidence
when the answer is published: what the ledger says was bought is never bought again, whenever a run is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from programsmith.compiler.cached import PAID
from programsmith.compiler.turn import Turn
from programsmith.job import Job
from programsmith.records.outcome import Outcome
from programsmith.store.budget import Budget
from programsmith.store.ledger import Ledger
from programsmith.store.retry import retried
from programsmith.store.slots import slot
from programsmith.store.twin import twinned

SLOTS = "blocks"


@contextmanager
def block_run(turn: Turn, job: Job, key: str, clear: Callable[[], None]) -> Iterator[tuple[Outcome, float]]:
    """Run the block until it answers; the caller publishes that inside. `clear` removes what a broken attempt left.

    Raises BudgetError before anything is spent, InfraError after the last attempt.
    """
    with ExitStack() as closing:
        yield _answered(turn, job, key, clear, closing)


def _answered(turn: Turn, job: Job, key: str, clear: Callable[[], None], closing: ExitStack) -> tuple[Outcome, float]:
    attempts = 0

    def once() -> tuple[Outcome, float]:
        nonlocal attempts
        attempts += 1
        clear()
        fresh = replace(job, scratch=job.scratch / str(attempts))
        fresh.scratch.mkdir()
        with slot(job.store / "slots", SLOTS, turn.subject.workers):
            started = time.monotonic()
            return _bought(turn, fresh, key, closing), time.monotonic() - started

    return retried(once, turn.subject.retries, job.say, time.sleep)


def _bought(turn: Turn, job: Job, key: str, closing: ExitStack) -> Outcome:
    run = turn.subject.blocks.run(turn.step.block)
    if turn.step.block not in PAID:
        return run(job)
    bound: Callable[[Job], float] | None = turn.subject.blocks.part(turn.step.block, "bound")
    twinned(*turn.subject.folder.ledgers)
    budget = Budget(ledger=Ledger(turn.subject.folder.ledger), usd=turn.subject.values.get("budget", {}).get("usd"))
    with ExitStack() as attempt:
        took = attempt.enter_context(budget.reserved(turn.name, key, bound(job) if bound else 0.0))
        outcome = run(job)
        took.append(float(outcome.evidence.get("usd", 0.0)))
        closing.push(attempt.pop_all())
        return outcome
