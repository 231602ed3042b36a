"""synthesize: the next revision of a bundle that was refused, by typed operations on the split of its pool.

In: what the records of the parent ask for, its split and lineage, everything that the first bundle was made of, what
each case asks and shows, the kills. Out: the next bundle with manifest, split and lineage, or gave_up with what was
tried in vain. No expected side is written here: each comes from the pool, and the bundle from the code that made the
first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from programsmith.bundle.ingredients import ingredients
from programsmith.bundle.render import render
from programsmith.bundle.tree import write_bundle
from programsmith.goldens.gates.nulls import null_reason
from programsmith.goldens.invariants import Sizes, Stock
from programsmith.goldens.siblings import sibling_groups
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills, Split
from programsmith.records.outcome import Outcome, Record, Word
from programsmith.records.revision import Lineage
from programsmith.sources.tree import read_tar
from programsmith.verdict.policy import Choice, Need, Parent, choose, need_of


def need(records: Mapping[str, Record], rules: Callable[[str], Any]) -> Need:
    """All that this block may depend on of the records. Raises InputError where none of them asks for a revision."""
    return need_of(records, rules("operations"), rules("triage")["repeatable"])


def run(job: Job) -> Outcome:
    """Choose, apply, render. Raises InputError, PrerequisiteError as create does."""
    rule, parent = job.rules("operations"), _parent(job)
    choice = choose(job.need, parent, _stock(job, rule), rule)
    if choice.split is not None:
        entries, manifest = render(ingredients(job, choice.split))
        write_bundle(job.outputs["next/bundle/"], entries)
        codec.dump(job.outputs["next/manifest.json"], manifest)
        codec.dump(job.outputs["next/split.json"], choice.split)
        codec.dump(job.outputs["next/ops.json"], choice.lineage)
    return decide(job.need, choice, parent.made)


def decide(need: Need, choice: Choice, made: int) -> Outcome:
    """What was done, or why nothing could be."""
    refused = [codec.encode(r) for r in choice.refused]
    evidence: dict[str, Any] = {"cause": need.cause, "need": need.ladder, "refused": refused}
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
