"""Families in which every case comes out the same: a constant answers them, so they prove nothing."""

from __future__ import annotations

from collections.abc import Iterable

from programsmith.records.golden import Golden


def one_outcome(goldens: Iterable[Golden], least: int) -> set[str]:
    """Ids of the cases of families of at least `least` cases that share one expected side."""
    by_family: dict[str, list[Golden]] = {}
    for golden in goldens:
        by_family.setdefault(golden.family, []).append(golden)
    return {
        g.id
        for cases in by_family.values()
        if len(cases) >= least and len({c.expected for c in cases}) == 1
        for g in cases
    }
