"""synthesize: the next revision of a bundle that was refused, by typed operations on the split of its pool.

In: what the records of the parent ask for, its split and lineage, everything that the first bundle was made of, what
each case asks and shows, the kills. Out: the next bundle with manifest, split and lineage, or gave_up with what was
tried in vain. No expected side is written here: each comes from the pool, and the bundle from the code that made the
first. A model, where the spec names one, says in which order the operations of the ladder are tried and how far each
goes; the operations, their invariants and their bounds are the rule's.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from programsmith.bundle.ingredients import ingredients
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.render import render
from programsmith.bundle.tree import write_bundle
from programsmith.goldens.gates.nulls import null_reason
from programsmith.goldens.invariants import Sizes, Stock
from programsmith.goldens.operations import KINDS
from programsmith.goldens.siblings import sibling_groups
from programsmith.job import Job
from programsmith.models.ask import Asked, questions
from programsmith.models.request import Section
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills, Split
from programsmith.records.outcome import Outcome, Record, Word
from programsmith.records.revision import Lineage
from programsmith.sources.tree import read_tar
from programsmith.verdict.policy import Choice, Need, Parent, choose, figures, need_of, seen_of

SHARE = 16000  # bytes of each part that a model is shown


def need(records: Mapping[str, Record], rules: Callable[[str], Any]) -> Need:
    """All that this block may depend on of the records. Raises InputError where none of them asks for a revision."""
    return need_of(records, rules("operations"), rules("triage")["repeatable"])


def run(job: Job) -> Outcome:
    """Choose, apply, render. Raises InputError, PrerequisiteError as create does."""
    rule, parent = job.rules("operations"), _parent(job)
    own = questions(job, "synthesize", job.spec("models.synthesize", object))
    stock = _stock(job, rule)
    open_ = offers(job.need, parent, rule)
    asked = (
        own.put(sections(job.need, parent, stock, open_), lambda told: fault(told, open_)) if own and open_ else None
    )
    choice = choose(job.need, parent, stock, rule, wish(asked))
    if choice.split is not None:
        before = codec.load(job.inputs["r/manifest.json"], Manifest)
        entries, manifest = render(replace(ingredients(job, choice.split), overview=before.overview))
        write_bundle(job.outputs["next/bundle/"], entries)
        codec.dump(job.outputs["next/manifest.json"], manifest)
        codec.dump(job.outputs["next/split.json"], choice.split)
        codec.dump(job.outputs["next/ops.json"], choice.lineage)
    return decide(job.need, choice, parent.made, asked)


def offers(need: Need, parent: Parent, rule: Mapping[str, Any]) -> dict[str, float]:
    """The operations that somebody may choose among, each with the most that one use moves."""
    used = Counter(op.name for op in parent.lineage.operations)
    ladder = () if need.unearned else rule["ladders"][need.ladder]
    limits = {name: rule["operations"][name] for name in ladder if not KINDS[name].named}
    return {name: float(row["share"]) for name, row in limits.items() if used[name] < row["times"]}


def sections(need: Need, parent: Parent, stock: Stock, open_: Mapping[str, float]) -> list[Section]:
    """What a model is shown: no case, only how many of which family."""
    seen = seen_of("", need, parent.split)
    failed = Counter(stock.pool[case].family for trial in need.failing for case in trial if case in stock.pool)
    sides = {name: Counter(stock.pool[i].family for i in ids) for name, ids in _sides(parent.split).items()}
    asked = {
        "asked": need.ladder,
        "because": need.cause,
        "attempts_that_should_pass": codec.encode(need.aim) if need.aim else None,
        "figures": figures(parent.split, stock, seen),
        "operations": {name: {"share_at_most": share} for name, share in open_.items()},
        "done_before": [op.name for op in parent.lineage.operations],
    }
    table = {
        family: {"failed_cases": failed[family], **{side: counts[family] for side, counts in sides.items()}}
        for family in sorted({g.family for g in stock.pool.values()})
    }
    return [
        Section(name="the revision", content=json.dumps(asked, indent=1), most=SHARE),
        Section(name="families of behaviour", content=json.dumps(table, indent=1), most=SHARE),
    ]


def _sides(split: Split) -> dict[str, tuple[str, ...]]:
    return {"public": split.public, "hidden": split.held_out, "reserve": split.reserve}


def fault(told: Any, open_: Mapping[str, float]) -> str:
    """The first operation that is not offered, or that goes too far."""
    names = [row["name"] for row in told["operations"]]
    for row in told["operations"]:
        if row["name"] not in open_:
            return f"operations: wanted some of {', '.join(open_)}; got {row['name']!r}"
        if row["share"] > open_[row["name"]]:
            return f"{row['name']}: wanted a share of at most {open_[row['name']]:g}, got {row['share']:g}"
    return "" if len(names) == len(set(names)) else "operations: wanted each once"


def wish(asked: Asked | None) -> dict[str, float]:
    """What a model wants, as the policy takes it; nothing where none was asked or no answer holds."""
    told = asked.answer if asked else None
    return {row["name"]: float(row["share"]) for row in told["operations"]} if told else {}


def decide(need: Need, choice: Choice, made: int, asked: Asked | None = None) -> Outcome:
    """What was done, or why nothing could be."""
    refused = [codec.encode(r) for r in choice.refused]
    evidence: dict[str, Any] = {"cause": need.cause, "need": need.ladder, "refused": refused}
    if asked:
        evidence["model"] = {**asked.evidence, "wish": wish(asked)}
    if choice.split is None:
        tried = "; ".join(f"{r.name}: {r.why}" for r in choice.refused) or "no operation mends it"
        return Outcome(word=Word.GAVE_UP, reason=f"{need.cause}: {tried}", evidence=evidence)
    done = [op for op in choice.lineage.operations if op.made == made]
    said = ", ".join(f"{op.name} moves {len(op.moves)} cases" for op in done)
    operations = [codec.encode(op) for op in done]
    return Outcome(word=Word.REVISED, reason=f"{need.cause}: {said}", evidence={**evidence, "operations": operations})


def _parent(job: Job) -> Parent:
    lineage = codec.load(job.inputs["r/ops.json"], Lineage)
    made = max((op.made for op in lineage.operations), default=0) + 1
    return Parent(split=codec.load(job.inputs["r/split.json"], Split), lineage=lineage, made=made)


def _stock(job: Job, rule: dict[str, Any]) -> Stock:
    pool = {g.id: g for g in codec.load_lines(job.inputs["pool.jsonl"], Golden)}
    usage = {e.content.strip() for e in read_tar(job.inputs["docs.tar"]) if e.kind == "file"}
    goldens = job.rules("goldens")
    nulls = {i: null_reason(g.case, g.expected, usage) for i, g in pool.items()}
    siblings = (tuple(g.id for g in group) for group in sibling_groups(list(pool.values()), _distance(goldens)))
    return Stock(
        pool=pool,
        groups={case: group for group in siblings for case in group},
        discovery=codec.load(job.inputs["discovery.json"], dict[str, Discovery]),
        kills=codec.load(job.inputs["kills.json"], Kills),
        nulls={i: name for i, name in nulls.items() if name is not None},
        acceptance=job.rules("acceptance"),
        sizes=Sizes(
            held_out_min=rule["held_out_min"],
            held_out_max=math.ceil(rule["held_out_growth"] * job.spec("goldens.held_out", int)),
            public_min=rule["public_min"],
            same_expected_share=goldens["same_expected_share"],
        ),
    )


def _distance(goldens: dict[str, Any]) -> int:
    distance: int = goldens["split"]["argv_distance"]
    return distance
