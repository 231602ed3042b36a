"""static: every check of the rule looks at the bundle, one evidence row each; r/static.ok where all of them pass.

In: bundle, manifest, environment, the lock, the oracle's tree. Out: r/static.ok, whose bytes depend on the bundle
alone, so that a change of a rule that changes no answer reruns nothing behind it.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from programsmith.bundle.manifest import Manifest
from programsmith.checks.base import Scene
from programsmith.checks.registry import CHECKS
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.rulebook.load import packaged_schema
from programsmith.sources.tree import read_tar


def run(job: Job) -> Outcome:
    """Run the checks, several at a time; rows in the rule's order. One that cannot know raises: there is no outcome."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    scene = Scene(
        bundle=job.inputs["r/bundle/"],
        environments=job.inputs["r/environments.json"],
        manifest=manifest,
        lock=codec.load(job.inputs["lock.json"], Lock),
        oracle=tuple(read_tar(job.inputs["oracle.tar"])),
        schema=packaged_schema("harbor_task"),
        scratch=job.scratch,
        owner_secret=job.owner_secret,
    )
    with ThreadPoolExecutor(max(1, job.workers)) as pool:
        rows = list(pool.map(lambda e: _row(job, scene, e["id"], e["parameters"]), job.rules("checks")["checks"]))
    failed = [r for r in rows if not r["passed"]]
    if failed:
        reason = "; ".join(f"{r['id']}: {r['reason']}" for r in failed)
        return Outcome(word=Word.FAIL, reason=reason, evidence={"checks": rows})
    codec.dump(job.outputs["r/static.ok"], {"outcome": "pass", "tree": manifest.tree})
    return Outcome(word=Word.PASS, reason=f"{len(rows)} checks pass", evidence={"checks": rows})


def _row(job: Job, scene: Scene, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    own = dataclasses.replace(scene, scratch=Path(tempfile.mkdtemp(prefix=f"{name}.", dir=job.scratch)))
    row = CHECKS[name](own, parameters)
    job.say(f"{name}: {'pass' if row.passed else 'FAIL'} in {time.monotonic() - started:.1f} s: {row.reason}")
    return {"id": name, "passed": row.passed, "reason": row.reason, "evidence": row.evidence}
