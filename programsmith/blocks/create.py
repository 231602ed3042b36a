"""create: candidate, goldens and the oracle's documentation become the first bundle.

In: lock, source, candidate, oracle, documentation, pool and split. Out: r/bundle/, r/manifest.json, and the split and
the lineage of the first revision. The same inputs give the same bytes. It has no "no": whatever is wrong with the
ingredients was said before. A model, where the spec names one, describes the program in a few paragraphs, from what the
agent is given anyway; whatever the contract says is said by the template alone, and without an answer that holds there
is no such description.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from programsmith.bundle.ingredients import ingredients
from programsmith.bundle.prose import fault
from programsmith.bundle.render import render
from programsmith.bundle.tree import write_bundle
from programsmith.job import Job
from programsmith.models.ask import Asked, questions
from programsmith.models.request import Section
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.golden import Golden, Split
from programsmith.records.lock import OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.records.revision import Lineage
from programsmith.sources.tree import read_tar

SHARE = 20000  # bytes of each part that a model is shown


def run(job: Job) -> Outcome:
    """Write the bundle, its manifest, its split and its empty lineage."""
    split = codec.load(job.inputs["split.json"], Split)
    asked = described(job, split)
    overview = tuple(asked.answer["paragraphs"]) if asked and asked.answer else ()
    entries, manifest = render(replace(ingredients(job, split), overview=overview))
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
        }
        | ({"model": asked.evidence} if asked else {}),
    )


def described(job: Job, split: Split) -> Asked | None:
    """What a model says of the program; None where the spec names none."""
    own = questions(job, "create", job.spec("models.create", object))
    if own is None:
        return None
    facts = codec.load(job.inputs["facts.json"], OracleFacts)
    pool = {g.id: g.family for g in codec.load_lines(job.inputs["pool.jsonl"], Golden)}
    families = sorted({pool[case] for case in split.public})
    names = {facts.tool, *facts.options, *facts.subcommands}
    shown = sections(facts, families, read_tar(job.inputs["docs.tar"]))
    return own.put(shown, lambda told: fault(told["paragraphs"], names, own.rule["prose"]))


def sections(facts: OracleFacts, families: Sequence[str], docs: Sequence[FileEntry]) -> list[Section]:
    """What a model is shown: names, families that public cases show, and the documentation."""
    names = {
        "program": facts.tool,
        "subcommands": list(facts.subcommands),
        "options": list(facts.options),
        "families": list(families),
    }
    texts = [entry.content for entry in docs if entry.kind == "file"]
    return [
        Section(name="names", content=json.dumps(names, indent=1), most=SHARE),
        *(Section(name="documentation", content=text, most=SHARE) for text in texts),
    ]
