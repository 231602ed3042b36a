"""The kept pool by side: public, held-out, reserve. Whole sibling groups move; a seed and ids decide, nothing else.

Every family of two groups or more is on both sides. A family of one group is held out only where public cases show
its subcommand, each of its options, and all else that it asks; else it is public. What docs do not show goes public
first, so that it can be asked elsewhere; a held-out case that asks what is shown nowhere is dropped.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from programsmith.goldens.gates.duplicates import allowance, over_share
from programsmith.goldens.siblings import sibling_groups
from programsmith.payload.verifier.model import Expected
from programsmith.records.golden import Golden, Split


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """Sizes: `public` is a share of the pool, at least `public_least` where the pool has twice that."""

    public: float
    public_least: int
    held_out: int
    same_expected_share: float
    argv_distance: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the split must know of each case, by id: what it needs shown, what it shows, whether it must be public.

    `options` are the case's subcommand and options, each as a name.
    """

    needs: Mapping[str, frozenset[bytes]]
    shows: Mapping[str, frozenset[bytes]]
    options: Mapping[str, frozenset[str]]
    open_only: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Sides:
    public: list[Golden] = field(default_factory=list)
    closed: list[list[Golden]] = field(default_factory=list)
    shown: set[bytes] = field(default_factory=set)
    owed: float = 0.0  # public cases that the families so far should have given


def split(goldens: Sequence[Golden], facts: Facts, rule: SplitRule) -> tuple[Split, dict[str, str]]:
    """The sides, and the word for each case that is dropped because nothing shows what it asks."""
    groups = sorted(sibling_groups(goldens, rule.argv_distance), key=lambda g: _chance(rule.seed, g))
    quota = _quota(len(goldens), rule)
    sides = _Sides()
    families: dict[str, list[list[Golden]]] = {}
    for group in groups:
        families.setdefault(group[0].family, []).append(group)
    lone = [gs[0] for _, gs in sorted(families.items()) if len(gs) == 1]
    for _, of_family in sorted(families.items()):
        if len(of_family) > 1:
            _divide(sides, of_family, facts, quota / max(1, len(goldens)))
    _place_lone(sides, sorted(lone, key=lambda g: _chance(rule.seed, g)), facts, quota)
    dropped = {g.id: "undiscoverable" for group in sides.closed for g in group if not facts.needs[g.id] <= sides.shown}
    closed = sorted(sides.closed, key=lambda g: _chance(rule.seed, g))
    held_out, reserve = _hold_out([[g for g in group if g.id not in dropped] for group in closed], rule)
    return Split(public=_ids(sides.public), held_out=_ids(held_out), reserve=_ids(reserve)), dropped


def _quota(size: int, rule: SplitRule) -> int:
    share = round(rule.public * size)
    return max(share, rule.public_least) if size >= 2 * rule.public_least else share


def _divide(sides: _Sides, groups: list[list[Golden]], facts: Facts, share: float) -> None:
    """Some groups of one family go public, the others stay closed; at least one on each side.

    What rounding gives too much or too little is settled with the next family.
    """
    sides.owed += share * sum(map(len, groups))
    forced = [g for g in groups if any(c.id in facts.open_only for c in g)]
    left = [g for g in groups if g not in forced]
    count = 0
    for group in forced if left else groups:
        count += _open(sides, group, facts)
    while len(left) > 1 and (count == 0 or len(sides.public) < round(sides.owed)):
        group = left.pop(_most_helpful(left, facts, sides, round(sides.owed) - len(sides.public)))
        count += _open(sides, group, facts)
    sides.closed.extend(left)


def _most_helpful(left: Sequence[list[Golden]], facts: Facts, sides: _Sides, room: int) -> int:
    """Where the group stands that should be opened next: what helps, then what overfills `room` least, then the first.

    A large group that went public because it came first would leave little to hold out.
    """
    over = [max(0, len(group) - max(1, room)) for group in left]
    return max(range(len(left)), key=lambda at: (_helps(left[at], left, facts, sides), -over[at], -at))


def _helps(group: list[Golden], left: Iterable[list[Golden]], facts: Facts, sides: _Sides) -> int:
    """2: shows what another closed group needs; 1: itself needs what nothing shows; 0 otherwise."""
    needed = frozenset().union(*(facts.needs[c.id] for c in group)) - sides.shown
    if not needed:
        return 0
    shows = frozenset().union(*(facts.shows[c.id] for c in group))
    others = (c for g in left if g is not group for c in g)
    return 2 if any((facts.needs[c.id] - sides.shown) & shows for c in others) else 1


def _place_lone(sides: _Sides, lone: Sequence[list[Golden]], facts: Facts, quota: int) -> None:
    """Families of one group: public until the quota is full, then held out where their parts are shown.

    First comes what shows parts that others have, next what must be public whatever comes: else the quota would be full
    of what could have been held out.
    """
    left, seen = list(lone), {i for g in sides.public for i in facts.options[g.id]}
    while left:
        had = Counter(option for group in left for option in _parts(group, facts) - seen)
        group = left.pop(max(range(len(left)), key=lambda at: (*_shows(left[at], had, facts), -at)))
        asks = any(c.id in facts.open_only or not facts.needs[c.id] <= sides.shown for c in group)
        nearer = 2 * len(sides.public) + len(group) <= 2 * quota  # the quota is then missed by no more than without it
        if asks or nearer or not _parts(group, facts) <= seen:
            _open(sides, group, facts)
            seen |= _parts(group, facts)
        else:
            sides.closed.append(group)


def _parts(group: Sequence[Golden], facts: Facts) -> frozenset[str]:
    return frozenset[str]().union(*(facts.options[c.id] for c in group))


def _shows(group: Sequence[Golden], had: Counter[str], facts: Facts) -> tuple[int, bool]:
    """How many others have parts of it that are not shown, whether it has such parts at all."""
    hidden = [option for option in _parts(group, facts) if option in had]
    return sum(had[option] - 1 for option in hidden), bool(hidden)


def _open(sides: _Sides, group: Sequence[Golden], facts: Facts) -> int:
    sides.public.extend(group)
    for case in group:
        sides.shown |= facts.shows[case.id]
    return len(group)


def _hold_out(closed: Sequence[list[Golden]], rule: SplitRule) -> tuple[list[Golden], list[Golden]]:
    """Families take turns until held-out is full; no expected side gets more than its share of it.

    Cases of a group that do not fit are in reserve, which is as closed as held-out.
    """
    size = min(rule.held_out, sum(map(len, closed)))
    counts: Counter[Expected] = Counter()
    held: list[Golden] = []
    reserve: list[Golden] = []
    for case in (case for group in _turns(closed) for case in group):
        counts[case.expected] += 1
        fits = counts[case.expected] <= allowance(case.expected, size, rule.same_expected_share)
        (held if fits and len(held) < rule.held_out else reserve).append(case)
    over = over_share(held, rule.same_expected_share)
    return [g for g in held if g.id not in over], reserve + [g for g in held if g.id in over]


def _turns(closed: Sequence[list[Golden]]) -> Iterator[list[Golden]]:
    """One group of each family after the other, until none is left."""
    by_family: dict[str, list[list[Golden]]] = {}
    for group in closed:
        if group:
            by_family.setdefault(group[0].family, []).append(group)
    queues = [by_family[family] for family in sorted(by_family)]
    for turn in zip_longest(*queues):
        yield from (group for group in turn if group)


def _chance(seed: int, group: Sequence[Golden]) -> tuple[float, str]:
    """By the first case that was found: a group keeps its place when a case is made of one of its own."""
    first = min((bool(g.provenance.made), g.id) for g in group)[1]
    return random.Random(f"{seed}:{first}").random(), first  # noqa: S311 - a seeded order, not a secret


def _ids(goldens: Iterable[Golden]) -> tuple[str, ...]:
    return tuple(sorted(g.id for g in goldens))
