"""Which operation makes the next revision: the rule's ladder for what was refused, rung by rung.

In: what the records of the parent ask for, its split and lineage, the stock, rules/operations.yaml. Out: a Choice.
Deterministic; a wish, where somebody has one, orders the ladder and shortens its steps. An operation that breaks an
invariant, has nothing to move or is used up is refused, and the next one is tried; with none left the choice has no
split.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.errors import InputError
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
NO_LABELS = Labels(trials=(), unshown=(), unseen=(), unreached=(), untold=(), infra={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What is asked of the next revision: all that its making depends on of what was said of the one before.

    `cause` is block and word. `failing` holds the held-out cases that each trial failed which counts for it, `named` by
    operation the cases that the "no" points at. `saturated`: every trial without privilege passes what is to be
    hardened; `unearned`: one scored without earning it. A band that was edited and asks for the same is the same need.
    """

    ladder: str
    cause: str
    failing: tuple[tuple[str, ...], ...]
    named: dict[str, tuple[str, ...]]
    saturated: bool
    unearned: bool
    aim: Aim | None


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


def need_of(records: Mapping[str, Record], rule: Mapping[str, Any], repeatable: Collection[str]) -> Need:
    """The need of the first record, in the order of the rule, whose word asks for one. Raises InputError on none."""
    for block, ladders in rule["needs"].items():
        record = records.get(block)
        if record is not None and record.outcome.value in ladders:
            judged = record if "labels" in record.evidence else records.get("triage")
            labels = codec.decode(Labels, judged.evidence["labels"]) if judged else NO_LABELS
            return _need(ladders[record.outcome.value], record, labels, repeatable)
    said = ", ".join(f"{block} {record.outcome.value}" for block, record in sorted(records.items()))
    raise InputError(f"rules/operations.yaml: needs: wanted a ladder for a word that sends back, got none for {said}")


def _need(ladder: str, record: Record, labels: Labels, repeatable: Collection[str]) -> Need:
    own = [t for t in labels.trials if not t.ceiling]
    row = next((r for r in record.evidence.get("bands", ()) if r["standing"] != Standing.IN_BAND), None)
    counted = observations([t for t in own if _counts(t, record, row)], repeatable)
    return Need(
        ladder=ladder,
        cause=f"{record.block} {record.outcome.value}",
        failing=tuple(t.failing for t in counted),
        named={name: _named(name, record, labels) for name, kind in KINDS.items() if kind.named},
        saturated=record.outcome is Word.HARDEN and bool(own) and all(t.passed for t in own),
        unearned=any(t.label is Label.BAD_SUCCESS for t in labels.trials),
        aim=aim_of(row, len(counted)) if record.outcome in (Word.EASE, Word.TOO_HARD) else None,
    )


def _counts(trial: Labelled, record: Record, row: Mapping[str, Any] | None) -> bool:
    """Whether what a trial failed counts: of the pair whose band does not hold; where labels lack, without one."""
    if row is not None and f"{trial.pair.agent}/{trial.pair.model}" != row["pair"]:
        return False
    return record.outcome is not Word.BROKEN or trial.label is Label.UNLABELLED


def rungs(need: Need, rule: Mapping[str, Any], wish: Mapping[str, float]) -> dict[str, float]:
    """The ladder in the order in which it is tried: operation to how much one use moves.

    `wish` puts operations first and gives them a share. Those on named cases mend what is wrong and come before any
    wish; what was not wished for follows. A wish for another operation, or for more than the rule lets, is none.
    """
    own = {name: float(rule["operations"][name]["share"]) for name in rule["ladders"][need.ladder]}
    named = {name: share for name, share in own.items() if KINDS[name].named}
    wished = {name: min(share, own[name]) for name, share in wish.items() if name in own.keys() - named.keys()}
    return {**named, **wished, **{name: share for name, share in own.items() if name not in wished}} if wished else own


def choose(
    need: Need, parent: Parent, stock: Stock, rule: Mapping[str, Any], wish: Mapping[str, float] | None = None
) -> Choice:
    """Go down the ladder. Operations on named cases are taken together; of the others the first that holds.

    Where every trial passes, the task is far from its band, and as many rungs as the rule says are taken at once.
    """
    split, lineage, refused = parent.split, parent.lineage, list[Refusal]()
    left = rule["saturated_rungs"] if need.saturated else 1
    for name, share in () if need.unearned else rungs(need, rule, wish or {}).items():
        if left <= 0 and not KINDS[name].named:
            break
        limit = rule["operations"][name]
        seen = seen_of(name, need, parent.split)
        used = sum(op.name == name for op in parent.lineage.operations)
        after, why = (None, f"it was used {used} times")
        if used < limit["times"]:
            after, why = apply(name, split, stock, seen, share)
        if after is None:
            refused.append(Refusal(name=name, why=why))
            continue
        done = _operation(name, need, (split, after), stock, seen, parent.made)
        split, lineage = after, Lineage(operations=(*lineage.operations, done), refused=tuple(refused))
        left -= 1
    return Choice(split=split if split != parent.split else None, lineage=lineage, refused=tuple(refused))


def seen_of(name: str, need: Need, split: Split) -> Seen:
    """What operation `name` is told: the failures that count, the cases that it names, what was shown, the aim."""
    return Seen(
        failing=tuple(map(frozenset, need.failing)),
        named=frozenset(need.named.get(name, ())),
        shown=frozenset(split.public),
        aim=need.aim,
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


def _named(name: str, record: Record, labels: Labels) -> tuple[str, ...]:
    """The cases that the record points at, as far as the operation is about them."""
    if name == "drop_flaky":
        rows = record.evidence.get("controls", ())
        return tuple(sorted({case for row in rows for case in row.get("failing", ())}))
    bad = {case for t in labels.trials if t.label is Label.BAD_FAILURE for case in t.cases}
    hidden = bad & {*labels.unshown, *labels.unseen} | set(record.evidence.get("undiscoverable", ()))
    return tuple(sorted(hidden if name == "drop_undiscoverable" else bad - hidden))


def _operation(name: str, need: Need, change: tuple[Split, Split], stock: Stock, seen: Seen, made: int) -> Operation:
    old, new = side_of(change[0]), side_of(change[1])
    return Operation(
        made=made,
        name=name,
        need=need.ladder,
        cause=need.cause,
        moves=tuple(
            Move(case=case, family=stock.pool[case].family, old=old[case], new=new[case])
            for case in sorted(old)
            if old[case] != new[case]
        ),
        before=figures(change[0], stock, seen),
        after=figures(change[1], stock, seen),
    )
