"""What a spec's records say, gathered into one JSON value: verdict, revisions, trials, labels, strength, probe, spend.

In: the records of each revision, the lineage, the ledger's events. Out: the value that `report --json` prints of a spec
and that text.py shows. Pure; no field holds a time but those of records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.records.outcome import Record
from programsmith.records.revision import Lineage

TRIAL_TASK = re.compile(r"(?P<spec>[^:]+):(?P<revision>r\d+):(?:b\d+:)?(?P<block>[^:]+):(?P<who>.+):\d+")
BANDED = ("calibrate", "sweep")
LABELLED = ("triage", "sweep")
Records = Mapping[str, Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A revision's records by block, of a step in batches the last; `decided` names the block that ended it."""

    number: int
    records: Records
    decided: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """One event of the ledger: whose task, what it did (`reserve`, `spend`, `settle`), under which id, how much."""

    task: str
    kind: str
    id: str
    usd: float


def found(revisions: Sequence[Revision], lineage: Lineage, events: Iterable[Spending]) -> dict[str, Any]:
    """Everything that the records of a spec say."""
    last: Records = revisions[-1].records if revisions else {}
    return {
        "revisions": [_revision(r, before, lineage) for before, r in zip([None, *revisions], revisions, strict=False)],
        "trials": [row for r in revisions for row in _trials(r)],
        "headroom": [row for r in revisions for row in _headroom(r)],
        "labels": [row for r in revisions for row in _labels(r)],
        "strength": [{"revision": r.number, **s.evidence} for r in revisions if (s := r.records.get("strength"))],
        "probe": _of(last, "probe", "counts", "live", "defences", "not_s", "rows"),
        "controls": _rows(last, "sanity", "controls"),
        "checks": [{k: row[k] for k in ("id", "passed", "reason")} for row in _rows(last, "static", "checks")],
        "spend": spend(events),
    }


def _revision(r: Revision, before: Revision | None, lineage: Lineage) -> dict[str, Any]:
    decided = r.records.get(r.decided or "")
    refused = before.records.get(before.decided or "") if before else None
    made = [op for op in lineage.operations if op.made == r.number]
    return {
        "revision": r.number,
        "made_by": [
            {
                "name": op.name,
                "need": op.need,
                "cause": op.cause,
                "reason": refused.reason if refused else "",
                "moves": len(op.moves),
                "before": op.before,
                "after": op.after,
            }
            for op in made
        ],
        "said": {block: record.outcome.value for block, record in r.records.items()},
        "decided": None
        if decided is None
        else {"block": decided.block, "said": decided.outcome.value, "reason": decided.reason},
    }


def _trials(r: Revision) -> Iterator[dict[str, Any]]:
    """A row per pair and basis: passes of trials, the Beta posterior, what each band makes of it."""
    for block in BANDED:
        evidence = r.records[block].evidence if block in r.records else {}
        for tally in evidence.get("tallies", ()):
            yield {
                "revision": r.number,
                "basis": "sweep" if block == "sweep" else "rollouts",
                **tally,
                "posterior": [tally["k"] + 1, tally["n"] - tally["k"] + 1],
                "bands": [band for band in evidence.get("bands", ()) if band["pair"] == tally["pair"]],
            }


def _headroom(r: Revision) -> Iterator[dict[str, Any]]:
    for block in BANDED:
        evidence = r.records[block].evidence if block in r.records else {}
        if "solvable" in evidence:
            yield {"revision": r.number, "solvable": evidence["solvable"], "headroom": evidence.get("headroom")}


def _labels(r: Revision) -> Iterator[dict[str, Any]]:
    for block in LABELLED:
        labels = r.records[block].evidence.get("labels", {}) if block in r.records else {}
        for trial in labels.get("trials", ()):
            kept = ("index", "batch", "ceiling", "reward", "label", "proof", "cases")
            pair = f"{trial['pair']['agent']}/{trial['pair']['model']}"
            yield {"revision": r.number, "basis": block, "pair": pair, **{name: trial[name] for name in kept}}
        for who, why in labels.get("infra", {}).items():
            yield {"revision": r.number, "basis": block, "pair": who, "label": "infra", "proof": why}


def _of(records: Records, block: str, *names: str) -> dict[str, Any] | None:
    if block not in records:
        return None
    record = records[block]
    return {"said": record.outcome.value, **{name: record.evidence.get(name) for name in names}}


def _rows(records: Records, block: str, name: str) -> list[dict[str, Any]]:
    return list(records[block].evidence.get(name, ())) if block in records else []


def spend(events: Iterable[Spending]) -> dict[str, Any]:
    """Dollars by who tried in which revision, and reservations that nothing closed."""
    by: dict[str, list[float]] = {}
    held: dict[str, Spending] = {}
    for event in events:
        if event.kind == "reserve":
            held[event.id] = event
            continue
        held.pop(event.id, None)
        by.setdefault(_who(event.task), []).append(event.usd)
    rows = [{"who": who, "calls": len(usd), "usd": round(sum(usd), 6)} for who, usd in sorted(by.items())]
    return {
        "spent": round(sum(row["usd"] for row in rows), 6),  # type: ignore[misc]
        "held": [{"id": event.id, "task": event.task, "usd": event.usd} for event in held.values()],
        "by": rows,
    }


def _who(task: str) -> str:
    """`r0 trial command:solver` of the task of one trial; of another task what follows the spec's name."""
    parts = TRIAL_TASK.fullmatch(task)
    return f"{parts['revision']} {parts['block']} {parts['who']}" if parts else task.partition(":")[2]
