"""grade: the verifier's result on one trial's artifact.

In: the artifact, bundle, manifest, environment. Out: details.json as the verifier wrote it; the
grade is the evidence. A grade knows nothing of why the trial stopped: what lies in the submission counts.
"""

from __future__ import annotations

import hashlib

from programsmith.bundle import grade as verifier
from programsmith.bundle.manifest import Manifest
from programsmith.job import Job
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Word
from programsmith.records.trial import Grade
from programsmith.sources.tree import read_tar, tree_digest

MEASURES = ("verify.pyz", "held_out.sealed", "seal.json", "public.jsonl", "policy.json", "plan.json")
"""Files of a bundle's tests folder that decide a grade; limits are in policy and plan."""


def run(job: Job) -> Outcome:
    """Grade the artifact. Raises InfraError: then there is no grade, and the artifact is not to blame for that."""
    entries = _artifact(job)
    folder, out = job.scratch / "submission", job.scratch / "out"
    write_tree(str(folder), entries)
    got = verifier.grade(job.inputs["r/bundle/"], folder, job.inputs["r/environments.json"], out, job.owner_secret)
    for end in got.ends:
        job.say(f"the verifier ended abnormally: {end}")
    cases, families = got.details["cases"], got.details["families"]["held_out"]
    grade = Grade(
        key=key(job),
        artifact=tree_digest(entries),
        reward=got.reward,
        word=got.word,
        held_out=dict(cases["held_out"]),
        public=dict(cases["public"]),
        families={name: (count["passed"], count["total"]) for name, count in families.items()},
        near_limit=tuple(got.details["near_limit"]),
        ends=got.ends,
        hostile=got.hostile,
    )
    (out / "details.json").replace(job.outputs["t/details.json"])
    return Outcome(word=Word.DONE, reason=f"reward {got.reward:g}: {got.reason}", evidence=codec.encode(grade))


def key(job: Job) -> str:
    """The grade's key: equal for an artifact that was measured already, by the same verifier in the same place."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    measures = {name: manifest.files[f"tests/{name}"] for name in MEASURES}
    environment = codec.load(job.inputs["r/environments.json"], dict)
    value = {
        "artifact": tree_digest(_artifact(job)),
        "measures": measures,
        "environment": [environment["kind"], environment["fingerprint"]],
    }
    return hashlib.sha256(canonical(value)).hexdigest()


def _artifact(job: Job) -> list[FileEntry]:
    return read_tar(job.inputs["t/artifact.tar"])
