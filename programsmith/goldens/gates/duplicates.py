"""Equal cases, and expected sides that too many held-out cases would share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Golden, MinedCase


def distinct(mined: Sequence[MinedCase]) -> tuple[list[MinedCase], int]:
    """The first of each equal case (argv, stdin, env, files, in any order of the last two), and how many are gone."""
    seen: dict[str, MinedCase] = {}
    for found in mined:
        seen.setdefault(_key(found.case), found)
    return list(seen.values()), len(mined) - len(seen)


def _key(case: Case) -> str:
    return Case(argv=case.argv, stdin=case.stdin, env=tuple(sorted(case.env)), files=tuple(sorted(case.files))).id


def shown_alike(goldens: Sequence[Golden]) -> set[str]:
    """Ids of cases that are another's call with variables, or more files, that show in nothing.

    Of cases with one command line, stdin and expected side, the one with the fewest variables and files stays; the
    first of those that bring as many.
    """
    alike: dict[object, list[Golden]] = {}
    for golden in goldens:
        alike.setdefault((golden.case.argv, golden.case.stdin, golden.expected), []).append(golden)
    gone = set()
    for same in alike.values():
        kept: list[Golden] = []
        for golden in sorted(same, key=lambda g: (len(g.case.env), len(g.case.files))):
            if any(set(k.case.files) <= set(golden.case.files) for k in kept):
                gone.add(golden.id)
            else:
                kept.append(golden)
    return gone


def allowance(expected: Expected, size: int, share: float) -> int:
    """How many of `size` held-out cases may have this expected side.

    A hollow side (any program that always fails so passes it) may not exceed the share even once; any other may stand
    once in a set of any size.
    """
    allowed = math.floor(share * size)
    return allowed if is_hollow(expected) else max(1, allowed)


def over_share(goldens: Sequence[Golden], share: float) -> set[str]:
    """Ids beyond the share of one expected side among `goldens`, the last ones first to go.

    Taking cases away lowers what the share allows, so the count is repeated until it holds.
    """
    kept = list(goldens)
    while True:
        counts: Counter[Expected] = Counter()
        staying = []
        for golden in kept:
            counts[golden.expected] += 1
            if counts[golden.expected] <= allowance(golden.expected, len(kept), share):
                staying.append(golden)
        if len(staying) == len(kept):
            return {g.id for g in goldens} - {g.id for g in kept}
        kept = staying


def is_hollow(expected: Expected) -> bool:
    """Whether an expected side shows nothing but its exit code and that stderr is not empty."""
    return not expected.stdout and expected.files is None
