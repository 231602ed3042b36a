"""create: candidate, goldens and the oracle's documentation become the first bundle.

In: lock, source, candidate, oracle, documentation, pool and split. Out: r/bundle/, r/manifest.json, and the split and
the lineage of the first revision. The same inputs give the same bytes. It has no "no": whatever is wrong with the
ingredients was said before.
"""

from __future__ import annotations

from programsmith.bundle.ingredients import ingredients
from programsmith.bundle.render import render
from programsmith.bundle.tree import write_bundle
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.golden import Split
from programsmith.records.outcome import Outcome, Word
from programsmith.records.revision import Lineage


def run(job: Job) -> Outcome:
    """Write the bundle, its manifest, its split and its empty lineage."""
    split = codec.load(job.inputs["split.json"], Split)
    entries, manifest = render(ingredients(job, split))
    write_bundle(job.outputs["r/bundle/"], entries)
    codec.dump(job.outputs["r/manifest.json"], manifest)
    codec.dump(job.outputs["r/split.json"], split)
    codec.dump(job.outputs["r/ops.json"], Lineage())
    return Outcome(
        word=Word.PASS,
        reason=f"{len(manifest.public)} public and {len(manifest.held_out)} held-out cases in {len(entries)} files",
        evidence={
            "tree": manifest.tree,
            "files": len(manifest.files),
            "bytes": sum(len(e.content) for e in entries),
            "families": len(manifest.families),
            "solution": manifest.solution,
        },
    )
