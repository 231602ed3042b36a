"""export: the bundle with its provenance, on the shelf of dist/ that the verdict names.

In: bundle, manifest, environment, verdict, lock, source, pool and all records, what a registry has of it. Out:
dist/<shelf>/<name>/ whole, with [metadata.programsmith] filled in, provenance.json, the licence texts, the manifest of
all that and its signature; dist/dataset.toml. The same inputs and the same signer give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programsmith.bundle.dataset import remove_others, update
from programsmith.bundle.harbor import ORGANISATION, read_task, task_digest, with_metadata
from programsmith.bundle.label import label, proof_rows
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.provided import PROVIDED, Provided, provide
from programsmith.bundle.signature import MANIFEST, SIGNATURE, manifest, signature
from programsmith.bundle.tree import plain, read_bundle, write_bundle
from programsmith.job import Job
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.golden import Golden
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import packaged_schema
from programsmith.sources.tree import read_tar

DIST = "dist/"


def run(job: Job) -> Outcome:
    """Write the exported task; list it; remove what an earlier verdict left on another shelf."""
    verdict = codec.load(job.inputs["verdict.json"], Verdict)
    lock, judged = codec.load(job.inputs["lock.json"], Lock), codec.load(job.inputs["r/manifest.json"], Manifest)
    files, name = read_bundle(job.inputs["r/bundle/"]), job.spec("name", str)
    toml = with_metadata(files["task.toml"].content, label(name, verdict, lock, judged, job.records))
    files["task.toml"] = FileEntry(b"task.toml", "file", 0o644, toml)
    given = _pushed(job, judged, verdict)
    files = files if given is None else provide(files, given, {})
    read_task(files["task.toml"].content, packaged_schema("harbor_task"))
    digest = task_digest({path: e.content for path, e in files.items()})
    proof = _provenance(job, verdict, digest) | ({} if given is None else {PROVIDED: codec.encode(given)})
    extra = [*_licences(job), _file("provenance.json", _readable(proof))]
    extra += _signed(job, f"{ORGANISATION}/{name}", [*files.values(), *extra])
    write_bundle(job.outputs[DIST], [*files.values(), *extra])
    place = _place(job)
    remove_others(job.dist, place)
    update(job.dist, job.outputs[DIST], place)
    return Outcome(
        word=Word.EXPORTED,
        reason=f"{verdict.outcome.value}: {place.relative_to(job.dist).as_posix()}",
        evidence={"path": place.relative_to(job.dist).as_posix(), "digest": digest, "files": len(files) + len(extra)},
    )


def _pushed(job: Job, judged: Manifest, verdict: Verdict) -> Provided | None:
    """What a registry has of this bundle as it was proven, by the digests that it told."""
    found, proven = job.spec("pushed", dict), {place["fingerprint"] for place in verdict.environments}
    if found.get("bundle") != judged.tree or found.get("fingerprint") not in proven:
        return None
    return codec.decode(Provided, found["provided"])


def _signed(job: Job, task: str, entries: list[FileEntry]) -> list[FileEntry]:
    """The manifest of an export, and its signature where there is a key."""
    raw, seed = manifest(task, entries), job.signing_key()
    if seed is None:
        job.say("not signed: no key can be kept below the user's configuration folder; give PROGRAMSMITH_SIGNING_KEY")
        return [_file(MANIFEST, raw)]
    return [_file(MANIFEST, raw), _file(SIGNATURE, signature(raw, seed))]


def _place(job: Job) -> Path:
    """Where the engine will put what is written."""
    made = job.outputs[DIST]
    return made.with_name(made.name.removesuffix(".part"))


def _provenance(job: Job, verdict: Verdict, digest: str) -> dict[str, Any]:
    lock = codec.load(job.inputs["lock.json"], Lock)
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    environment: Mapping[str, Any] = json.loads(job.inputs["r/environments.json"].read_bytes())
    return {
        "name": job.spec("name", str),
        "source": codec.encode(lock),
        "cases": _cases(job, manifest),
        "bundle": {"tree": manifest.tree, "files": manifest.files, "task": digest},
        "solution": manifest.solution,
        "build_packages": list(manifest.build_packages),
        "environment": {"kind": environment["kind"], "fingerprint": environment["fingerprint"]},
        "verdict": codec.encode(verdict),
        "evidence": proof_rows(job.records),
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
