"""Who answers what a block asks of a model: a replay of the project, the store, or a provider within the budget.

In: a request. Out: the reply. An answer is bought once: its key is all that it depends on and no code, so a block whose
code changes takes it from the store, like whoever else asks the same. Before a call is sent the most that it may cost
is reserved, and closed with what the gateway recorded; a call of unknown outcome keeps it. Raises BudgetError before
anything is spent, InfraError, PrerequisiteError, InputError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from programsmith.compiler.cached import CALL
from programsmith.compiler.paths import Folder
from programsmith.errors import ProgramSmithError
from programsmith.gateway.start import RULES
from programsmith.models.price import call_usd
from programsmith.models.providers import complete, require
from programsmith.models.replay import replayed
from programsmith.models.request import Reply, Request
from programsmith.records import codec
from programsmith.spec.checks import is_replay
from programsmith.store.budget import Budget
from programsmith.store.cache import ActionCache, Hit, Made
from programsmith.store.ledger import Ledger
from programsmith.store.twin import twinned

ASK = "ask"
"""What an entry of the store is called that holds an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Answers for one task of one spec. `usd` is its budget; `load` gives rules, on whose prices no answer depends."""

    folder: Folder
    task: str
    usd: float | None
    load: Callable[[str], Any]
    cache: Callable[[], ActionCache] | None
    say: Callable[[str], None]

    def __call__(self, request: Request) -> Reply:
        """The reply to a request."""
        if is_replay(request.model):
            return replayed(request, self.folder.project.root)
        with self._known(request) as (cache, known):
            return known if known is not None else self._bought(request, cache)

    @contextmanager
    def _known(self, request: Request) -> Iterator[tuple[ActionCache | None, Reply | None]]:
        """The store with the request's key held, and the answer that it has."""
        if self.cache is None:
            yield None, None
            return
        cache = self.cache()
        with cache.lease(request.digest):
            found = cache.lookup(request.digest, self.folder.name, {})
            if isinstance(found, Hit):
                self.say(f"{request.model}: call {request.number + 1} is taken from the store")
                yield cache, codec.decode(Reply, found.outcome["reply"])
            else:
                yield cache, None

    def _bought(self, request: Request, cache: ActionCache | None) -> Reply:
        rules = {name: self.load(name) for name in RULES}
        most = call_usd(rules, request)
        twinned(*self.folder.ledgers)
        budget = Budget(ledger=Ledger(self.folder.ledger), usd=self.usd)
        held = budget.reserve(self.task, request.digest, float(most))
        record = self.folder.calls(held.id)
        record.parent.mkdir(parents=True, exist_ok=True)
        try:
            with budget.closing(held) as took:
                reply = self._sent(request, (most, rules, record), took)
                self._keep(request, reply, held.id, cache)
        finally:
            if took:
                record.unlink(missing_ok=True)
        self.say(f"{request.model}: call {request.number + 1} took {reply.usd:.6f} usd")
        return reply

    def _sent(self, request: Request, by: tuple[Decimal, Any, Path], took: list[float]) -> Reply:
        """Send the call; put what it took into the list as soon as that is known. Raises InfraError."""
        most, rules, record = by
        try:
            reply, account = complete(request, most, rules, os.environ, record)
        except ProgramSmithError:  # nothing was sent
            took.append(0.0)
            raise
        if not account.open:
            took.append(float(account.usd))
        return require(request, reply, rules["failures"], account.after)

    def _keep(self, request: Request, reply: Reply, call: str, cache: ActionCache | None) -> None:
        """Keep the answer, in the form in which a run that is killed now finds what the call took."""
        if cache is None:
            return
        outcome = {"outcome": {"evidence": {"usd": reply.usd}}, CALL: call, "reply": codec.encode(reply)}
        made = Made(block=ASK, spec=self.folder.name, outcome=outcome, artifacts={}, open=_nothing, outcome_open=False)
        fault = cache.publish(request.digest, made)
        if fault is not None:
            self.say(f"not kept in the store: {fault}")


def _nothing(_artifact: str) -> bool:
    return False
