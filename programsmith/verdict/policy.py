"""Which operation makes the next revision: the rule's ladder for what was refused, rung by rung.

In: the records of the parent, its split and lineage, the stock, rules/operations.yaml. Out: a Choice. Deterministic.
An operation that breaks an invariant, has nothing to move or is used up is refused, and the next one is tried; with
none left the choice has no split.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.goldens.invariants import Stock, side_of
from programsmith.goldens.operations import KINDS, Aim, Seen, apply
from programsmith.records import codec
from programsmith.records.golden import Split
from programsmith.records.labels import Labelled, Labels
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage, Move, Operation, Refusal
from programsmith.records.trial import Label, Pair
from programsmith.verdict.calibration import Band, Standing, Tally, observations, read

PLACES = 4
NOBODY = Pair(agent="", model="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What is asked of the next revision: a ladder, the record that asked, the labels of the trials that it judged."""

    ladder: str
    record: Record
    labels: Labels | None

    @property
    def cause(self) -> str:
        """Block and word."""
        return f"{self.record.block} {self.record.outcome.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The revision that was refused. `made` is the number of the one to come."""

    split: Split
    lineage: Lineage
    made: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The next split and lineage; no split where nothing is left. `refused` says what was tried in vain."""

    split: Split | None
    lineage: Lineage
    refused: tuple[Refusal, ...]


def need_of(records: Mapping[str, Record], rule: Mapping[str, Any]) -> Need:
    """The need of the first record, in the order of the rule, whose word asks for one. Raises ValueError on none."""
    for block, ladders in rule["needs"].items():
        record = records.get(block)
        if record is not None and record.outcome.value in ladders:
            judged = record if "labels" in record.evidence else records.get("triage")
            labels = codec.decode(Labels, judged.evidence["labels"]) if judged else None
            return Need(ladder=ladders[record.outcome.value], record=record, labels=labels)
    raise ValueError(f"wanted a record that asks for another revision, got {', '.join(sorted(records))}")


def choose(need: Need, parent: Parent, stock: Stock, rule: Mapping[str, Any], repeatable: Collection[str]) -> Choice:
    """Go down the ladder. Operations on named cases are taken together; of the others the first that holds.

    Where every trial passes, the task is far from its band, and as many rungs as the rule says are taken at once.
    """
    split, lineage, refused = parent.split, parent.lineage, list[Refusal]()
    left = rule["saturated_rungs"] if _saturated(need) else 1
    for name in () if _unearned(need.labels) else rule["ladders"][need.ladder]:
        if left <= 0 and not KINDS[name].named:
            break
        limit = rule["operations"][name]
        seen = dataclasses.replace(seen_of(name, need, repeatable), shown=frozenset(parent.split.public))
        used = sum(op.name == name for op in parent.lineage.operations)
        after, why = (None, f"it was used {used} times")
        if used < limit["times"]:
            after, why = apply(name, split, stock, seen, limit["share"])
        if after is None:
            refused.append(Refusal(name=name, why=why))
            continue
        done = _operation(name, need, (split, after), stock, seen, parent.made)
        split, lineage = after, Lineage(operations=(*lineage.operations, done), refused=tuple(refused))
        left -= 1
    return Choice(split=split if split != parent.split else None, lineage=lineage, refused=tuple(refused))


def seen_of(name: str, need: Need, repeatable: Collection[str]) -> Seen:
    """What operation `name` is told: the failures that count for the need, the cases that it names, the aim."""
    row = next((r for r in need.record.evidence.get("bands", ()) if r["standing"] != Standing.IN_BAND), None)
    own = [t for t in need.labels.trials if not t.ceiling] if need.labels else []
    if row is not None:
        own = [t for t in own if f"{t.pair.agent}/{t.pair.model}" == row["pair"]]
    if need.record.outcome is Word.BROKEN:
        own = [t for t in own if t.label is Label.UNLABELLED]
    counted = observations(own, repeatable)
    aims = need.record.outcome in (Word.EASE, Word.TOO_HARD)
    return Seen(
        failing=tuple(frozenset(t.failing) for t in counted),
        named=_named(name, need),
        aim=aim_of(row, len(counted)) if aims else None,
    )


def aim_of(row: Mapping[str, Any] | None, count: int) -> Aim:
    """How many of `count` trials should pass for the band of an evidence row; at least one, without a row any number.

    The surest number in the band is the least, the highest in it the most.
    """
    if row is None or count == 0:
        return Aim(least=1, most=max(1, count))
    low, high = row["pass_rate"]
    band = Band(low=low, high=high, confidence=row["confidence"], trials_max=row["trials_max"])
    readings = {k: read(Tally(pair=NOBODY, k=k, n=count), band) for k in range(1, count + 1)}
    surest = max(readings, key=lambda k: (readings[k].inside, -k))
    inside = [k for k, reading in readings.items() if reading.standing is Standing.IN_BAND]
    return Aim(least=surest, most=max(inside, default=surest))


def figures(split: Split, stock: Stock, seen: Seen) -> dict[str, float]:
    """What is told of a split: its sizes, its strength, the trials of the parent that would pass."""
    found = stock.strength(split)
    return {
        "public": len(split.public),
        "held_out": len(split.held_out),
        "reserve": len(split.reserve),
        "dropped": len(split.dropped),
        "mutation_score": round(found.mutation_score, PLACES),
        "public_kill_ratio": round(found.public_kill_ratio or 0.0, PLACES),
        "passes": seen.passes(split),
        "trials": len(seen.failing),
    }


def _saturated(need: Need) -> bool:
    """Whether the task is to be hardened and every trial without privilege passes."""
    own = [t for t in need.labels.trials if not t.ceiling] if need.labels else []
    return need.record.outcome is Word.HARDEN and bool(own) and all(t.passed for t in own)


def _unearned(labels: Labels | None) -> bool:
    """Whether a trial scored without earning it: no choice of cases mends a verifier."""
    return labels is not None and any(t.label is Label.BAD_SUCCESS for t in labels.trials)


def _named(name: str, need: Need) -> frozenset[str]:
    """The cases that the record points at, as far as the operation is about them."""
    if name == "drop_flaky":
        rows = need.record.evidence.get("controls", ())
        return frozenset(case for row in rows for case in row.get("failing", ()))
    bad = [t for t in need.labels.trials if t.label is Label.BAD_FAILURE] if need.labels else []
    hidden = _hidden(bad, need.labels) | frozenset(need.record.evidence.get("undiscoverable", ()))
    if name == "drop_undiscoverable":
        return hidden
    return frozenset(case for t in bad for case in t.cases) - hidden


def _hidden(bad: Sequence[Labelled], labels: Labels | None) -> frozenset[str]:
    """Cases of bad failures that are not discoverable."""
    if labels is None:
        return frozenset()
    return frozenset(case for t in bad for case in t.cases).intersection({*labels.unshown, *labels.unseen})


def _operation(name: str, need: Need, change: tuple[Split, Split], stock: Stock, seen: Seen, made: int) -> Operation:
    old, new = side_of(change[0]), side_of(change[1])
    return Operation(
        made=made,
        name=name,
        need=need.ladder,
        cause=need.cause,
        reason=need.record.reason,
        moves=tuple(
            Move(case=case, family=stock.pool[case].family, old=old[case], new=new[case])
            for case in sorted(old)
            if old[case] != new[case]
        ),
        before=figures(change[0], stock, seen),
        after=figures(change[1], stock, seen),
    )
