"""Which trials a batch buys: spec entries in, assignments out.

The first batch of an entry holds its `trials`, and at least the rule's minimum where a band is judged on them; each
further batch the rule's step, up to the band's trials_max. Ceiling trials come once, with the first batch. Trial i of
an entry has index i over all batches, so the same spec always means the same trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.records.trial import Assignment, pair_of

Entry = Mapping[str, Any]
COMMAND = "command"  # the harness whose own words a cross product has


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What rules/batches.yaml says: trials of the first batch, at least, where a band is judged; of each further."""

    first: int
    further: int


def entries_of(sweep: Mapping[str, Any] | Sequence[Entry] | None) -> tuple[Entry, ...]:
    """The pairs of a sweep: its list, or every harness with every model but for those that it excepts."""
    if sweep is None:
        return ()
    if not isinstance(sweep, Mapping):
        return tuple(sweep)
    most = {} if sweep.get("usd") is None else {"usd": sweep["usd"]}
    own = {COMMAND: sweep[COMMAND]} if sweep.get(COMMAND) is not None else {}
    left_out = {(pair["agent"], pair["model"]) for pair in sweep["except"]}
    return tuple(
        {"agent": agent, "model": model, "trials": sweep["trials"], **most, **(own if agent == COMMAND else {})}
        for agent in sweep["agents"]
        for model in sweep["models"]
        if (agent, model) not in left_out
    )


def attacks(entry: Entry | None) -> tuple[Assignment, ...]:
    """The tries of the adversary that a spec names: all come at once."""
    if entry is None:
        return ()
    return tuple(_assigned(entry, index, 0, adversary=True) for index in range(entry["trials"]))


def bands_on(entry: Entry, basis: str, difficulty: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The bands that are judged on this entry: those on the whole `basis`, and those on its pair."""
    return [band for band in difficulty if band["basis"] == basis or _names(band["basis"], entry)]


def _names(basis: Any, entry: Entry) -> bool:
    return isinstance(basis, Mapping) and pair_of(basis) == pair_of(entry)


def assignments(
    entries: Sequence[Entry],
    ceiling: Entry | None,
    batch: int,
    *,
    difficulty: Sequence[Mapping[str, Any]],
    sizes: Sizes,
    basis: str = "rollouts",
) -> tuple[Assignment, ...]:
    """The trials of `batch` (from 0), entry by entry, ceiling trials last. Empty where no entry may have more."""
    found = [
        _assigned(entry, index, batch)
        for entry in entries
        for index in _indices(entry, batch, bands_on(entry, basis, difficulty), sizes)
    ]
    if ceiling is not None and batch == 0:
        found += [_assigned(ceiling, index, batch, ceiling=True) for index in range(ceiling["trials"])]
    return tuple(found)


def _indices(entry: Entry, batch: int, bands: Sequence[Mapping[str, Any]], sizes: Sizes) -> Iterator[int]:
    """Indices that the batch adds for one entry; without a band on it, all of them come with the first batch."""
    if not bands:
        yield from range(entry["trials"] if batch == 0 else 0)
        return
    most = max(band["trials_max"] for band in bands)
    first = min(max(entry["trials"], sizes.first), most)
    start = 0 if batch == 0 else first + (batch - 1) * sizes.further
    yield from range(start, min(first + batch * sizes.further, most))


def _assigned(entry: Entry, index: int, batch: int, *, ceiling: bool = False, adversary: bool = False) -> Assignment:
    who = pair_of(entry)
    return Assignment(
        agent=who.agent, model=who.model, index=index, batch=batch, ceiling=ceiling, entry=entry, adversary=adversary
    )
