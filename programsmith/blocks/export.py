"""export: the bundle with its provenance, on the shelf of dist/ that the verdict names.

In: bundle, manifest, environment, verdict, lock, source, pool and all records. Out: dist/<shelf>/<name>/ whole, with
[metadata.programsmith] filled in, provenance.json, the licence texts; dist/dataset.toml. The same inputs give the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.bundle.dataset import other_places, update
from programsmith.bundle.harbor import read_task, task_digest, with_metadata
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.tree import plain, read_bundle, write_bundle
from programsmith.job import Job
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.records import codec
from programsmith.records.golden import Golden
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Record, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import packaged_schema
from programsmith.sources.tree import read_tar

DIST = "dist/"
FACTORS = ("q", "b", "v", "h", "not_s")
STRENGTH = ("mutation_score", "interval", "mutants", "pool_coverage", "scope_coverage", "public_kill_ratio")


def run(job: Job) -> Outcome:
    """Write the exported task; list it; remove what an earlier verdict left on another shelf."""
    verdict = codec.load(job.inputs["verdict.json"], Verdict)
    files = read_bundle(job.inputs["r/bundle/"])
    toml = with_metadata(files["task.toml"].content, _metadata(job, verdict))
    read_task(toml, packaged_schema("harbor_task"))
    files["task.toml"] = FileEntry(b"task.toml", "file", 0o644, toml)
    digest = task_digest({path: e.content for path, e in files.items()})
    extra = [*_licences(job), _file("provenance.json", _readable(_provenance(job, verdict, digest)))]
    write_bundle(job.outputs[DIST], [*files.values(), *extra])
    place = _place(job)
    for old in other_places(job.dist, place):
        shutil.rmtree(old)
    update(job.dist, job.outputs[DIST], place)
    return Outcome(
        word=Word.EXPORTED,
        reason=f"{verdict.outcome.value}: {place.relative_to(job.dist).as_posix()}",
        evidence={"path": place.relative_to(job.dist).as_posix(), "digest": digest, "files": len(files) + len(extra)},
    )


def _place(job: Job) -> Path:
    """Where the engine will put what is written."""
    made = job.outputs[DIST]
    return made.with_name(made.name.removesuffix(".part"))


def _metadata(job: Job, verdict: Verdict) -> dict[str, Any]:
    """What [metadata.programsmith] says beyond the task itself. A factor that nobody judged is absent."""
    factors = {name: getattr(verdict, name) for name in FACTORS}
    strength = job.records["strength"].evidence if "strength" in job.records else {}
    found = {name: strength[name] for name in STRENGTH if strength.get(name) is not None}
    return {
        "revision": verdict.revision,
        "verdict": verdict.outcome.value,
        **{name: value for name, value in factors.items() if value is not None},
        "proven_in": sorted({e["kind"] for e in verdict.environments}),
        "environments": sorted(f"{e['kind']}:{e['fingerprint']}" for e in verdict.environments),
        "notes": list(verdict.reasons),
        "evidence": {name: _digest(record) for name, record in sorted(job.records.items())},
        **({"strength": found} if found else {}),
    }


def _digest(record: Record) -> str:
    """SHA-256 of what a block said, whatever time it took."""
    return hashlib.sha256(canonical([record.outcome.value, record.reason, codec.encode(record.evidence)])).hexdigest()


def _provenance(job: Job, verdict: Verdict, digest: str) -> dict[str, Any]:
    lock = codec.load(job.inputs["lock.json"], Lock)
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    environment: Mapping[str, Any] = json.loads(job.inputs["r/environments.json"].read_bytes())
    return {
        "name": job.spec("name", str),
        "source": codec.encode(lock),
        "cases": _cases(job, manifest),
        "bundle": {"tree": manifest.tree, "files": manifest.files, "task": digest},
        "environment": {"kind": environment["kind"], "fingerprint": environment["fingerprint"]},
        "verdict": codec.encode(verdict),
        "evidence": {
            name: {"outcome": r.outcome.value, "reason": r.reason, "inputs": r.inputs, "digest": _digest(r)}
            for name, r in sorted(job.records.items())
        },
    }


def _cases(job: Job, manifest: Manifest) -> dict[str, Any]:
    """Per case of the bundle where it was found and under which licence."""
    shown = {*manifest.public, *manifest.held_out}
    return {
        g.id: {
            "miner": g.provenance.miner,
            "path": plain(g.provenance.path).decode("ascii"),
            "line": g.provenance.line,
            "blob": g.provenance.blob,
            "licence": g.provenance.licence,
        }
        for g in codec.load_lines(job.inputs["pool.jsonl"], Golden)
        if g.id in shown
    }


def _licences(job: Job) -> list[FileEntry]:
    """The licence texts of the source, below licences/."""
    lock = codec.load(job.inputs["lock.json"], Lock)
    named = {fact.path.encode("utf-8", "surrogateescape") for fact in lock.licences if fact.how == "text"}
    return [
        FileEntry(b"licences/" + plain(e.path), "file", 0o644, e.content)
        for e in read_tar(job.inputs["source.tar"])
        if e.kind == "file" and e.path in named
    ]


def _file(path: str, content: bytes) -> FileEntry:
    return FileEntry(path.encode("ascii"), "file", 0o644, content)


def _readable(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"
