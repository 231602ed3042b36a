"""The store under a block: what was made of equal inputs is restored, what is made is kept.

In: a turn, its job, its slice. Out: the key, the answer and artifacts that the store has for it, or none. A key holds
no path of a machine: it is the block and its slice, or what the block's own `key(job)` says (a trial holds for what
its agent sees, a grade for what measures it). What a block does beside its artifacts cannot be restored, so a step that
writes to dist/ runs; so does one that proves this very host, and what it made before tells whether the place drifted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from programsmith.compiler.paths import DIST
from programsmith.compiler.slices import json_digest
from programsmith.compiler.turn import Turn
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.outcome import Outcome
from programsmith.store.cache import NEW, ActionCache, Hit, Made

FORM = 1
"""Number of the form of what is kept: a new one makes every entry a miss."""
PROVES_HOST = frozenset({"images"})
HOST = "host"
"""The cause that such a block answers by itself: another host is a drift of the same place, not another question."""
PAID = frozenset({"trial"})
"""Blocks whose code is no part of their key: what they bought stays bought until their NUMBER is another."""
CLEAR = frozenset({"lock.json", "candidates.json", "candidate.json", "r/environments.json", "r/places.json"})
"""Artifacts that a store may show; every other one is sealed, and so is the answer of a block that touches one."""

CALL = "call"
"""Under it an answer that cost says which reservation it closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A block's answer, the seconds that it took, and the reservation under which it was bought where it cost."""

    outcome: Outcome
    seconds: float
    call: str = ""


class Kept:
    """One turn's place in the store. The caller holds its lease."""

    def __init__(self, turn: Turn, job: Job, key: str) -> None:
        self.key = key
        self._turn = turn
        self._job = job
        self._cache = _cache(turn)

    def restored(self) -> Ran | None:
        """The answer, with the artifacts in the job's outputs. None: run the block.

        Whatever lies in the outputs then is void.
        """
        if self._cache is None or self._turn.step.block in PROVES_HOST:
            return None
        found = self._cache.lookup(self.key, self._turn.subject.folder.name, self._job.outputs)
        if isinstance(found, Hit):
            kept = found.outcome
            return Ran(outcome=codec.decode(Outcome, kept["outcome"]), seconds=float(kept["seconds"]))
        if found.why != NEW:
            self._job.say(f"not taken from the store: {found.why}")
        return None

    def drifted(self, outcome: Outcome) -> Outcome:
        """The outcome of a block that proves this host, with the fingerprints that its place had before."""
        if self._cache is None or self._turn.step.block not in PROVES_HOST:
            return outcome
        known = self._cache.peek(self.key)
        before: Mapping[str, Any] = known["outcome"]["evidence"] if known else {}
        former = [*before.get("drift", ()), before.get("fingerprint")]
        if before.get("fingerprint") == outcome.evidence.get("fingerprint"):
            former.pop()
        drift = [print_ for print_ in dict.fromkeys(former) if print_]
        return replace(outcome, evidence={**outcome.evidence, "drift": drift}) if drift else outcome

    def publish(self, ran: Ran) -> None:
        """Keep the answer and the artifacts that lie in the job's outputs."""
        if self._cache is None:
            return
        step, call = self._turn.step, {CALL: ran.call} if ran.call else {}
        made = Made(
            block=step.block,
            spec=self._turn.subject.folder.name,
            outcome={"outcome": codec.encode(ran.outcome), "seconds": round(ran.seconds, 3)} | call,
            artifacts={name: path for name, path in self._job.outputs.items() if path.exists()},
            open=CLEAR.__contains__,
            outcome_open=CLEAR.issuperset((*step.reads, *step.writes)) and not step.records,
        )
        fault = self._cache.publish(self.key, made)
        if fault is not None:
            self._job.say(f"not kept in the store: {fault}")


@contextmanager
def kept(turn: Turn, job: Job, causes: Mapping[str, str]) -> Iterator[Kept]:
    """The turn's place in the store, with its key held: whoever makes the same waits and then takes it."""
    key = key_of(turn, job, causes)
    cache = _cache(turn)
    if cache is None:
        yield Kept(turn, job, key)
        return
    with cache.lease(key):
        yield Kept(turn, job, key)


def key_of(turn: Turn, job: Job, causes: Mapping[str, str]) -> str:
    """The key of what the turn makes. Raises what the block's own `key` raises."""
    step = turn.step
    own: Callable[[Job], str] | None = turn.subject.blocks.part(step.block, "key")
    if own is None:
        of = {name: cause for name, cause in causes.items() if name != HOST or step.block not in PROVES_HOST}
    elif step.block in PAID:
        of = {"own": own(job), "number": turn.subject.blocks.part(step.block, "NUMBER")}
    else:
        of = {"own": own(job), "code": causes["code"]}
    return json_digest([FORM, step.block, step.writes, [word.value for word in step.says], of])


def _cache(turn: Turn) -> ActionCache | None:
    return turn.subject.cache() if turn.subject.cache and DIST not in turn.step.writes else None
