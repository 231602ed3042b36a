"""The counts of a pool as JSON: what was mined and refused, what each gate dropped, what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from programsmith.goldens.pool import Pool
from programsmith.records.golden import MinedCase


def evidence(
    mined: Sequence[MinedCase],
    skipped: Mapping[str, Counter[str]],
    pool: Pool,
    absent: Mapping[str, str],
) -> dict[str, Any]:
    """Evidence of the goldens block. `absent` says which other build could not be made, and why."""
    kept = len(pool.goldens)
    return {
        "miners": {name: _miner(name, mined, counts) for name, counts in skipped.items()},
        "templates": {name: {"taken": c.taken, "tried": c.tried} for name, c in pool.templates.items()},
        "dropped": {word: n for word, n in sorted(pool.dropped.items()) if n},
        "agreement": dict(sorted(Counter(g.agreement for g in pool.goldens).items())),
        "families": _families(pool),
        "kept": kept,
        "public": len(pool.split.public),
        "held_out": len(pool.split.held_out),
        "reserve": len(pool.split.reserve),
        "launches": pool.launches,
        "launches_per_kept": round(pool.launches / kept, 2) if kept else None,
        "flake": pool.flake,
        "variants_absent": dict(absent),
        "undefined_unproven": pool.unproven,
    }


def _miner(name: str, mined: Sequence[MinedCase], skipped: Counter[str]) -> dict[str, Any]:
    """`found` counts tests, not the templates that each was tried with."""
    own = [m for m in mined if m.provenance.miner == name]
    tests = {(m.provenance.path, m.provenance.line, m.source, "" if m.template_set else m.case.id) for m in own}
    return {"found": len(tests), "skipped": {word: n for word, n in sorted(skipped.items()) if n}}


def _families(pool: Pool) -> dict[str, dict[str, int]]:
    sides = {i: side for side in ("public", "held_out", "reserve") for i in getattr(pool.split, side)}
    table: dict[str, dict[str, int]] = {}
    for golden in pool.goldens:
        row = table.setdefault(golden.family, {"public": 0, "held_out": 0, "reserve": 0})
        row[sides[golden.id]] += 1
    return dict(sorted(table.items()))
