"""Exported tasks for the tests of `verify`: what a forger does to one, and what is said of it."""

from __future__ import annotations

import dataclasses
import json
import tarfile
import tomllib
from pathlib import Path

from programsmith.blocks import export
from programsmith.bundle.harbor import dump_toml, task_digest
from programsmith.bundle.label import belongs, unlabelled
from programsmith.bundle.manifest import digests
from programsmith.bundle.signature import MANIFEST, SIGNATURE, manifest, signature
from programsmith.bundle.tree import read_bundle
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict

FINGERPRINT = "ab" * 32  # of the place that a task was proven in
SEED, OTHER = b"\1" * 32, b"\2" * 32
SECRET = b"the owner's own secret, long enough"
README = "environment/app/docs/README.md"
STRENGTH = {"mutation_score": 0.8, "interval": [0.7, 0.9], "mutants": 120, "pool_coverage": 0.9, "scope_coverage": 0.5}
BAND = {
    "basis": "rollouts", "pass_rate": [0.05, 0.6], "confidence": 0.75, "pair": "scripted/solver", "k": 1, "n": 6,
    "below": 0.0444, "inside": 0.9368, "above": 0.0188, "standing": "in_band", "more": False,
}  # fmt: skip
JUDGED = {
    "bands": [BAND],
    "tallies": [{"pair": "scripted/solver", "k": 1, "n": 6, "bought": 6, "interval": [0.03, 0.56]}],
}


def exported(toy, place: Path, seed: bytes | None = SEED, outcome: Word = Word.SHIP) -> Path:
    """The task exported to `place`, as one that ships or with another verdict."""
    verdict = Verdict(
        outcome=outcome, revision=0, environments=({"kind": "bubblewrap", "fingerprint": FINGERPRINT},),
        reasons=("accepted: every factor is 1",), q=1, b=1, v=1, h=1, not_s=1,
    )  # fmt: skip
    codec.dump(toy.path("verdict.json"), verdict)
    inputs = {"oracle.tar": "0a" * 32, "pool.jsonl": "0b" * 32}
    said = {"strength": STRENGTH, "calibrate": JUDGED, "static": {}}
    records = {
        block: Record(block=block, outcome=Word.PASS, reason="ok", evidence=evidence, inputs=inputs, seconds=1.0)
        for block, evidence in said.items()
    }
    job = dataclasses.replace(toy.job("export"), outputs={"dist/": place}, records=records, signing_key=lambda: seed)
    place.parent.mkdir(exist_ok=True)
    export.run(dataclasses.replace(job, dist=place.parent))
    return place


def states(lines):
    return {name: line["state"] for name, line in lines.items()}


def told(line):
    return {row["path"]: (row["wanted"], row["got"]) for row in line["differences"]}


def resigned(task: Path, seed: bytes = OTHER) -> None:
    """Make manifest and signature fit whatever lies there, as a forger does."""
    files = [e for path, e in read_bundle(task).items() if path not in {MANIFEST, SIGNATURE}]
    raw = manifest("programsmith/rot", files)
    (task / MANIFEST).write_bytes(raw)
    (task / SIGNATURE).write_bytes(signature(raw, seed))


def forge(task: Path) -> None:
    """Make everything fit whatever lies there, as a forger does who knows all of it."""
    own = {p: e for p, e in read_bundle(task).items() if belongs(p)}
    own["task.toml"] = dataclasses.replace(own["task.toml"], content=unlabelled(own["task.toml"].content))
    tree, files = digests(own.values())
    proof = json.loads((task / "provenance.json").read_bytes())
    proof["bundle"] |= {"tree": tree, "files": files}
    (task / "provenance.json").write_text(json.dumps(proof))
    made = tomllib.loads((task / "task.toml").read_text())["metadata"]["programsmith"]["provenance"]
    lie(task, "provenance", {**made, "bundle": tree})


def packed(task: Path, to: Path) -> Path:
    with tarfile.open(to, "w") as tar:
        tar.add(task, "rot")
    return to


def public(seed: bytes) -> str:
    return str(json.loads(signature(b"", seed))["key"])


GOOD = {
    "files": "ok",
    "signature": "ok",
    "label": "ok",
    "harbor": "ok",
    "consumers": "ok",
    "verifier": "ok",
    "sealing": "ok",
}


def lie(task: Path, key: str, value: object) -> None:
    """Edit the label and make everything else fit it."""
    said = tomllib.loads((task / "task.toml").read_text())
    said["metadata"]["programsmith"][key] = value
    (task / "task.toml").write_bytes(dump_toml(said))
    proof = json.loads((task / "provenance.json").read_bytes())
    proof["bundle"]["task"] = task_digest({p: e.content for p, e in read_bundle(task).items() if belongs(p)})
    (task / "provenance.json").write_text(json.dumps(proof))
    resigned(task)
