"""Rare wavers: which cases get more launches because of what others showed, and how likely a flake slips through.

A case that differed once in many launches shares its cause with cases that use the same options. Those are launched
often enough to show a 4 % flake in 99 of 100 cases; where much of a family wavers, the rest of it goes too. What is
left of the launches that a kept case may cost probes one case per family.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from programsmith.goldens.families import Call
from programsmith.goldens.observe import FLAKY, Observation
from programsmith.payload.verifier.model import Case

Again = Callable[[Case, Observation, int], Observation]


@dataclass(slots=True)
class Watched:
    """One case under observation; `suspect` once it had the long row of launches."""

    case: Case
    call: Call
    seen: Observation
    suspect: bool = False


def probe(watched: Sequence[Watched], again: Again, rule: Mapping[str, Any], spare: int, workers: int) -> None:
    """More launches of one still case per family, families in a seeded order, while `spare` launches last."""
    first: dict[str, Watched] = {}
    for one in sorted((w for w in watched if w.seen.dropped is None), key=lambda w: _chance(rule, w.case.id)):
        first.setdefault(one.call.family, one)
    affordable = max(0, spare) // rule["probe"]
    _repeat(list(first.values())[:affordable], again, rule["probe"], workers)


def pursue(watched: Sequence[Watched], again: Again, rule: Mapping[str, Any], workers: int) -> None:
    """Launch suspects until no new rare waverer turns up, then drop what is left of families that waver much."""
    while True:
        marks = [w.call for w in watched if w.seen.rare]
        new = [w for w in watched if w.seen.dropped is None and not w.suspect and any(_akin(w.call, m) for m in marks)]
        if not new:
            break
        _repeat(new, again, rule["suspect"], workers)
        for one in new:
            one.suspect = True
    for one in watched:
        kin = [w for w in watched if w.call == one.call]
        rare = sum(w.seen.rare for w in kin)
        if one.seen.dropped is None and rare > 1 and rare >= rule["family_share"] * len(kin):
            one.seen = replace(one.seen, dropped=FLAKY)


def chances(watched: Sequence[Watched], rule: Mapping[str, Any]) -> dict[str, float]:
    """Chances that a flake of the rule's rate was missed: in a lone case, a suspect, and in all cases alike.

    A lone still case had four launches (two of them perturbed); all of them alike, or all flaked.
    """
    rate = rule["flake"]
    lone = (1 - rate) ** 4 + rate**4
    still = [w for w in watched if w.seen.dropped is None]
    in_all = 1.0
    for one in still:
        in_all *= (1 - rate) ** (2 + one.seen.runs)
    return {
        "rate": rate,
        "missed_in_lone_case": round(lone, 4),
        "missed_in_suspect": round((1 - rate) ** (4 + rule["suspect"]), 4),
        "missed_in_every_case": float(f"{in_all:.2e}"),
    }


def _akin(call: Call, mark: Call) -> bool:
    """Whether a waver of `mark` may come from what `call` uses too."""
    return call == mark or bool(call.options & mark.options) or (call.subcommand == mark.subcommand != "")


def _repeat(some: Sequence[Watched], again: Again, times: int, workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        for one, seen in zip(some, pool.map(lambda w: again(w.case, w.seen, times), some), strict=True):
            one.seen = seen


def _chance(rule: Mapping[str, Any], name: str) -> float:
    return random.Random(f"{rule['seed']}:{name}").random()  # noqa: S311 - a seeded order, not a secret
