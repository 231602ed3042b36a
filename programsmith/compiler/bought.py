"""Running a block: in a slot of the machine, within the budget, again where infra ended it.

In: a turn, its job and key. Out: the block's answer and the seconds of the attempt that gave it. A block that may cost
says how much at most by its own `bound(job)`, in dollars; it is reserved before and closed with `usd` of the evidence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
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


def run_block(turn: Turn, job: Job, key: str, clear: Callable[[], None]) -> tuple[Outcome, float]:
    """Run the block until it answers. `clear` removes what a broken attempt left in the outputs.

    Raises BudgetError before anything is spent, InfraError after the last attempt.
    """
    attempts = 0

    def once() -> tuple[Outcome, float]:
        nonlocal attempts
        attempts += 1
        clear()
        fresh = replace(job, scratch=job.scratch / str(attempts))
        fresh.scratch.mkdir()
        with slot(job.store / "slots", SLOTS, turn.subject.workers):
            started = time.monotonic()
            return _bought(turn, fresh, key), time.monotonic() - started

    return retried(once, turn.subject.retries, job.say, time.sleep)


def _bought(turn: Turn, job: Job, key: str) -> Outcome:
    run = turn.subject.blocks.run(turn.step.block)
    if turn.step.block not in PAID:
        return run(job)
    bound: Callable[[Job], float] | None = turn.subject.blocks.part(turn.step.block, "bound")
    twinned(*turn.subject.folder.ledgers)
    budget = Budget(ledger=Ledger(turn.subject.folder.ledger), usd=turn.subject.values.get("budget", {}).get("usd"))
    with budget.reserved(turn.name, key, bound(job) if bound else 0.0) as took:
        outcome = run(job)
        took.append(float(outcome.evidence.get("usd", 0.0)))
        return outcome
