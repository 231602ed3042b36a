"""The next revision of a real bundle, through the block."""

from __future__ import annotations

import dataclasses

import pytest

from programsmith.blocks import synthesize
from programsmith.bundle.ground import read_ground
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.sides import read_sides
from programsmith.compiler.plan import STEP
from programsmith.payload.verifier.model import decode_expected, encode_expected
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills, Split
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage, Operation
from programsmith.verdict.triage import triage
from tests.samples.trials import RULE as TRIAGE
from tests.samples.trials import attempt


@pytest.fixture
def ready(toy):
    """The toy with what each case asks and shows, and with kills of none."""
    pool = codec.load_lines(toy.path("pool.jsonl"), Golden)
    shown = {g.id: Discovery(needs=(), shows=(), options=tuple(g.family.split()), open_only=False) for g in pool}
    codec.dump(toy.path("discovery.json"), shown)
    none = Kills(mutants=(), line_table=(), lines={g.id: () for g in pool}, scope_lines=0, skipped={})
    codec.dump(toy.path("kills.json"), none)
    toy.spec["goldens"] = {"held_out": 60}
    return toy


def job(toy, records, made=1):
    """A job of synthesize, whose outputs go to a folder of their own."""
    step = STEP["synthesize"]
    assert set(records) <= set(step.records)
    outputs = {name: toy.folder / f"made{made}" / name.rstrip("/") for name in step.writes}
    job = toy.job("synthesize", f"scratch-{made}")
    return dataclasses.replace(job, outputs=outputs, need=synthesize.need(records, job.rules))


def record(block, word, **evidence):
    return Record(block=block, outcome=word, reason="because", evidence=evidence, inputs={}, seconds=0.0)


def run(toy, records, made=1):
    wanted = job(toy, records, made)
    for path in wanted.outputs.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    outcome = synthesize.run(wanted)
    assert outcome.word in STEP["synthesize"].says
    if outcome.word is Word.REVISED:
        assert (wanted.spec.used, wanted.rules.used) == (set(STEP["synthesize"].spec), set(STEP["synthesize"].rules))
    return outcome, wanted.outputs


def unfair(toy, cases):
    """The record of a triage in which every trial fails on these cases alone, and so does the ceiling."""
    ground = read_ground(
        {n: toy.path(n) for n in ("r/manifest.json", "discovery.json", "kills.json", "pool.jsonl")}, ()
    )
    tried = [*(attempt(i, cases) for i in range(3)), attempt(0, cases, ceiling=True)]
    labels = triage(tried, ground, TRIAGE, {})
    return {"triage": record("triage", Word.DEFECT, labels=codec.encode(labels))}


def test_the_next_bundle_has_the_cases_of_its_split_and_the_answers_of_the_pool(ready):
    split = codec.load(ready.path("r/split.json"), Split)
    victim = split.held_out[0]
    outcome, made = run(ready, unfair(ready, [victim]))
    assert outcome.word is Word.REVISED
    assert outcome.reason.startswith("triage defect: drop_unfair moves ")
    after = codec.load(made["next/split.json"], Split)
    assert after.dropped == (victim,)
    manifest = codec.load(made["next/manifest.json"], Manifest)
    assert (manifest.public, manifest.held_out) == (after.public, after.held_out)
    pool = {g.id: g for g in codec.load_lines(ready.path("pool.jsonl"), Golden)}
    sides = read_sides(made["next/bundle/"])
    assert {c.case.id for c in sides.all} == {*after.public, *after.held_out}
    assert all(c.expected == decode_expected(encode_expected(pool[c.case.id].expected)) for c in sides.all)


def test_what_does_not_change_keeps_its_bytes(ready):
    split = codec.load(ready.path("r/split.json"), Split)
    _, made = run(ready, unfair(ready, [split.held_out[0]]))
    files = codec.load(made["next/manifest.json"], Manifest).files
    changed = {path for path, digest in files.items() if ready.manifest.files.get(path) != digest}
    assert "tests/verify.pyz" not in changed
    assert not {path for path in changed if path.startswith("environment/app/cases/")}
    assert {"instruction.md", "tests/held_out.sealed", "tests/plan.json"} <= changed


def test_the_lineage_grows_by_what_was_done(ready):
    split = codec.load(ready.path("r/split.json"), Split)
    _, made = run(ready, unfair(ready, [split.held_out[0]]))
    for name in ("split.json", "ops.json", "manifest.json"):
        ready.path(f"r/{name}").write_bytes(made[f"next/{name}"].read_bytes())
    outcome, made = run(ready, unfair(ready, [split.held_out[1]]), made=2)
    assert outcome.word is Word.REVISED
    lineage = codec.load(made["next/ops.json"], Lineage)
    assert [(op.made, op.name, op.cause) for op in lineage.operations] == [
        (1, "drop_unfair", "triage defect"),
        (2, "drop_unfair", "triage defect"),
    ]
    moves = {move.case: (move.old, move.new) for move in lineage.operations[1].moves}
    assert moves[split.held_out[1]] == ("held_out", "dropped")


def test_giving_up_writes_nothing_and_says_what_was_tried(ready):
    outcome, made = run(ready, {"static": record("static", Word.FAIL)})
    assert (outcome.word, outcome.reason) == (Word.GAVE_UP, "static fail: no operation mends it")
    assert not any(path.exists() for path in made.values())
    used = Operation(made=1, name="reveal_fewer", need="", cause="", moves=(), before={}, after={})
    codec.dump(ready.path("r/ops.json"), Lineage(operations=(used,)))
    outcome, _ = run(ready, {"calibrate": record("calibrate", Word.HARDEN, bands=[])}, made=2)
    assert outcome.word is Word.GAVE_UP
    assert "add_cases: there is nothing to move" in outcome.reason
    assert [r["name"] for r in outcome.evidence["refused"]] == ["reveal_fewer", "add_cases"]


def test_the_same_records_make_the_same_bytes(ready):
    split = codec.load(ready.path("r/split.json"), Split)
    records = unfair(ready, [split.held_out[0]])
    _, first = run(ready, records)
    _, second = run(ready, records, made=2)
    assert first["next/manifest.json"].read_bytes() == second["next/manifest.json"].read_bytes()
    assert first["next/ops.json"].read_bytes() == second["next/ops.json"].read_bytes()
