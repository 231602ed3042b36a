"""The operations that make the next split: which cases may move, to where, in which order, how far.

In: a split, the stock, what the trials failed, a name. Out: the new split, or why there is none. An operation moves
cases between sides, in whole sibling groups or whole families, one unit after the other; a unit that would break an
invariant stays. None writes an expected side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from programsmith.goldens.invariants import Stock, broken, moved, settle, side_of
from programsmith.records.golden import Split
from programsmith.verdict.discovery import lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """How many of `n` trials the next split should let pass by what they failed on this one: `least` to `most`."""

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the trials of the parent say. `failing` holds the held-out cases that each failed.

    `named` are cases that the "no" points at, `shown` those that the trials could see. Without an aim an operation goes
    as far as its share.
    """

    failing: tuple[frozenset[str], ...] = ()
    named: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    aim: Aim | None = None

    def passes(self, split: Split) -> int:
        """Trials that pass every held-out case of `split`."""
        held = set(split.held_out)
        return sum(not held & failed for failed in self.failing)


@dataclass(frozen=True, slots=True)
class Scene:
    """A split on its way, with everything that the order of its units is read from."""

    split: Split
    stock: Stock
    seen: Seen

    def failed(self, unit: Sequence[str]) -> int:
        """Trials that fail a held-out case of the unit's families."""
        families = {self.stock.pool[i].family for i in unit}
        return sum(any(self.stock.pool[c].family in families for c in failed) for failed in self.seen.failing)

    def cost(self, unit: Sequence[str]) -> tuple[int, int]:
        """How near the nearest trial is that fails on the unit: its other failures; then how many trials fail on it."""
        held, own = set(self.split.held_out), set(unit)
        left = [len((failed & held) - own) for failed in self.seen.failing if failed & held & own]
        return (min(left), -len(left)) if left else (len(held) + 1, 0)

    def survivors(self, unit: Sequence[str]) -> int:
        """Mutants that the unit kills and no held-out case does."""
        held, own = set(self.split.held_out), set(unit)
        return sum(bool(own & set(m.killers)) and not held & set(m.killers) for m in self.stock.kills.mutants)

    def hidden(self, unit: Sequence[str]) -> bool:
        """Whether a held-out case of the unit is not discoverable as it stands."""
        found = lacks(self.split.public, self.split.held_out, self.stock.discovery, self.stock.kills)
        return any(i in found.unshown or i in found.unseen for i in unit)


Key = tuple[float, ...]
Unit = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One operation. Units are cut from `sources` and go to `target`; `order` says which first, None: not at all.

    The share is taken of `whole`; a unit of `families` counts as one, any other by its cases. With `aims` it stops
    where the aim is reached.
    """

    sources: tuple[str, ...]
    target: str
    order: Callable[[Scene, Unit], Key | None]
    whole: Callable[[Scene], int]
    families: bool = False
    named: bool = False
    aims: bool = False


def _reveal_more(scene: Scene, unit: Unit) -> Key | None:
    """What is not discoverable, then what the trials failed; reserve before held-out."""
    hidden, failed = scene.hidden(unit), scene.failed(unit)
    if not hidden and not failed:
        return None
    return (not hidden, not set(unit) <= set(scene.split.reserve), *scene.cost(unit), -failed)


def _reveal_fewer(scene: Scene, unit: Unit) -> Key | None:
    """What helps least: of the families that trials pass, those with most public cases."""
    families = [scene.stock.pool[i].family for i in scene.split.public]
    return scene.failed(unit), -families.count(scene.stock.pool[unit[0]].family)


def _add_cases(scene: Scene, unit: Unit) -> Key | None:
    """What kills a survivor, then what the trials could not see, then what they are weak in."""
    return -scene.survivors(unit), not scene.seen.shown.isdisjoint(unit), -scene.failed(unit)


def _by_cost(scene: Scene, unit: Unit) -> Key | None:
    """What stands alone between a trial and its pass; never what no trial fails."""
    cost = scene.cost(unit)
    return cost if cost[1] else None


def _any_order(_: Scene, __: Unit) -> Key | None:
    return ()


def _cases(*sides: str) -> Callable[[Scene], int]:
    return lambda scene: sum(len(getattr(scene.split, side)) for side in sides)


def _named(scene: Scene) -> int:
    return len(scene.seen.named)


def _families(scene: Scene) -> int:
    return len({scene.stock.pool[i].family for i in (*scene.split.public, *scene.split.held_out)})


OPEN, CLOSED = ("public", "held_out", "reserve"), ("held_out", "reserve")
DROP_NAMED = Kind(sources=OPEN, target="dropped", order=_any_order, whole=_named, named=True)
KINDS: Mapping[str, Kind] = {
    "reveal_more": Kind(sources=CLOSED, target="public", order=_reveal_more, whole=_cases(*OPEN), aims=True),
    "reveal_fewer": Kind(sources=("public",), target="reserve", order=_reveal_fewer, whole=_cases("public")),
    "add_cases": Kind(sources=("reserve",), target="held_out", order=_add_cases, whole=_cases("held_out")),
    "narrow_scope": Kind(sources=OPEN, target="dropped", order=_by_cost, whole=_families, families=True, aims=True),
    "drop_case": Kind(sources=CLOSED, target="dropped", order=_by_cost, whole=_cases("held_out"), aims=True),
    "drop_undiscoverable": DROP_NAMED,
    "drop_unfair": DROP_NAMED,
    "drop_flaky": DROP_NAMED,
}


def apply(name: str, split: Split, stock: Stock, seen: Seen, share: float) -> tuple[Split | None, str]:
    """The split after operation `name`, or None and why not: what was refused first, or that there is nothing to move.

    An operation on named cases moves all of them or none.
    """
    kind = KINDS[name]
    left = max(1, math.floor(share * kind.whole(Scene(split, stock, seen))))
    now, refused = split, ""
    skipped: set[Unit] = set()
    while left > 0 and not _reached(kind, now, seen):
        unit = _next(kind, Scene(now, stock, seen), skipped)
        if unit is None:
            break
        skipped.add(unit)
        then = settle(moved(now, unit, kind.target), stock)
        faults = [*broken(split, then, stock), *_overshoot(kind, then, seen)]
        if then == now:
            refused = refused or f"{unit[0]} would share its expected side with too many held-out cases"
        elif faults:
            refused = refused or f"{faults[0]} once {unit[0]} is in {kind.target}"
        else:
            now, left = then, left - (1 if kind.families else len(unit))
    if now == split or (kind.named and refused):
        return None, refused or "there is nothing to move"
    return now, ""


def _reached(kind: Kind, split: Split, seen: Seen) -> bool:
    return kind.aims and seen.aim is not None and bool(seen.failing) and seen.passes(split) >= seen.aim.least


def _overshoot(kind: Kind, split: Split, seen: Seen) -> Iterator[str]:
    if kind.aims and seen.aim is not None and seen.passes(split) > seen.aim.most:
        yield f"{seen.passes(split)} of {len(seen.failing)} trials would pass, more than the band lets"


def _next(kind: Kind, scene: Scene, skipped: set[Unit]) -> Unit | None:
    """The unit that comes first and was not looked at."""
    ranked = []
    for unit in _units(kind, scene):
        key = None if unit in skipped else kind.order(scene, unit)
        if key is not None:
            ranked.append((key, unit))
    return min(ranked)[1] if ranked else None


def _units(kind: Kind, scene: Scene) -> list[Unit]:
    """Families, named cases, or sibling groups as far as they lie on the sources, each once."""
    side = side_of(scene.split)
    there = [i for i in sorted(side) if side[i] in kind.sources]
    if kind.named:
        return [(i,) for i in there if i in scene.seen.named]
    if kind.families:
        by_family: dict[str, list[str]] = {}
        for case in there:
            by_family.setdefault(scene.stock.pool[case].family, []).append(case)
        return [tuple(cases) for _, cases in sorted(by_family.items())]
    groups = {tuple(i for i in scene.stock.groups[case] if side.get(i) in kind.sources): None for case in there}
    return list(groups)
