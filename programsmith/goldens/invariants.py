"""What no operation on a split may break: sides, siblings, discoverability, families, strength, sizes.

In: the split before and after, the stock that both are made of. Out: the rules that the later one breaks and the
earlier one kept, so that a split which is mended step by step may still have its other faults. Launches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from programsmith.goldens.gates.duplicates import over_share
from programsmith.records.golden import Discovery, Golden, Kills, Split
from programsmith.verdict.discovery import lacks
from programsmith.verdict.strength import Strength, short_of, strength

SIDES = tuple(f.name for f in fields(Split))

_SHARES = ("mutation_score", "pool_coverage", "scope_coverage", "public_kill_ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Cases that a side keeps and may have; the share of held-out that may have one expected side."""

    held_out_min: int
    held_out_max: int
    public_min: int
    same_expected_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """All that splits of one pool are judged by. `groups` maps a case to its siblings, itself among them.

    `nulls` maps a case to the null program that passes it. `acceptance` is rules/acceptance.yaml.
    """

    pool: Mapping[str, Golden]
    groups: Mapping[str, tuple[str, ...]]
    discovery: Mapping[str, Discovery]
    kills: Kills
    nulls: Mapping[str, str]
    acceptance: Mapping[str, Any]
    sizes: Sizes

    def strength(self, split: Split) -> Strength:
        """How strong the held-out side is."""
        counts = Counter(self.nulls[i] for i in split.held_out if i in self.nulls)
        scores = {name: n / len(split.held_out) for name, n in counts.items()}
        return strength(self.kills, split.held_out, split.public, scores, self.acceptance["interval"])


def broken(before: Split, after: Split, stock: Stock) -> list[str]:
    """What `after` breaks that `before` kept, one line each; what must hold whatever was, first."""
    strange = list(_identity(before, after, stock))
    if strange:
        return strange
    old = dict(_faults(before, stock))
    return [text for name, text in _faults(after, stock) if name not in old or _is_weaker(name, before, after, stock)]


def _is_weaker(name: str, before: Split, after: Split, stock: Stock) -> bool:
    """Whether a strength that was short already is shorter now: cases that come must not push out those that kill."""
    if name not in _SHARES:
        return False
    was, now = (getattr(stock.strength(split), name) for split in (before, after))
    return bool((now or 0) < (was or 0))


def settle(split: Split, stock: Stock) -> Split:
    """The split with those held-out cases in reserve that would share an expected side too often."""
    held = [stock.pool[i] for i in split.held_out]
    over = over_share(held, stock.sizes.same_expected_share)
    return moved(split, over, "reserve")


def moved(split: Split, cases: Collection[str], side: str) -> Split:
    """The split with these cases on `side`, ids in order."""
    gone = set(cases)
    sides = {name: set(getattr(split, name)) - gone for name in SIDES}
    sides[side] |= gone
    return Split(**{name: tuple(sorted(ids)) for name, ids in sides.items()})


def side_of(split: Split) -> dict[str, str]:
    """The side of every case."""
    return {case: name for name in SIDES for case in getattr(split, name)}


def _identity(before: Split, after: Split, stock: Stock) -> Iterator[str]:
    """The same cases, each on one side, each with its expected side from the pool; what was dropped stays dropped."""
    listed = [case for name in SIDES for case in getattr(after, name)]
    if len(listed) != len(set(listed)):
        yield "a case is on two sides"
    if set(listed) != set(side_of(before)):
        yield "the cases are not those of the parent"
    if not set(listed) <= stock.pool.keys():
        yield "a case is not in the pool, so that nothing captured its expected side"
    if not set(before.dropped) <= set(after.dropped):
        yield "a dropped case is back"
    if not after.held_out:
        yield "no case is held out"


def _faults(split: Split, stock: Stock) -> Iterator[tuple[str, str]]:
    """Faults by a name that says what is at fault, so that those of two splits can be compared."""
    public, held = set(split.public), set(split.held_out)
    yield from _sizes(split, stock.sizes)
    for case in sorted(held):
        if public & set(stock.groups[case]):
            yield f"sibling {case}", f"{case} is held out and a sibling of it is public"
        if stock.discovery[case].open_only:
            yield f"open {case}", f"{case} is held out and the documentation shows its answer"
    for case in lacks(public, held, stock.discovery, stock.kills).unshown:
        yield f"unshown {case}", f"{case} is held out and asks what nothing shows"
    yield from _families(public, held, stock)
    yield from short_of(stock.strength(split), stock.acceptance).items()


def _sizes(split: Split, sizes: Sizes) -> Iterator[tuple[str, str]]:
    if len(split.held_out) < sizes.held_out_min:
        yield "held_out_min", f"{len(split.held_out)} held-out cases, wanted {sizes.held_out_min}"
    if len(split.held_out) > sizes.held_out_max:
        yield "held_out_max", f"{len(split.held_out)} held-out cases, wanted at most {sizes.held_out_max}"
    if len(split.public) < sizes.public_min:
        yield "public_min", f"{len(split.public)} public cases, wanted {sizes.public_min}"


def _families(public: Iterable[str], held: Iterable[str], stock: Stock) -> Iterator[tuple[str, str]]:
    """Every family that is held out is public too, or public cases show its subcommand and each of its options."""
    shown = {stock.pool[i].family for i in public}
    parts = {part for i in public for part in stock.discovery[i].options}
    for case in sorted(held):
        family = stock.pool[case].family
        if family not in shown and not parts.issuperset(stock.discovery[case].options):
            yield f"family {family}", f"the family {family!r} is held out and no public case shows it"
