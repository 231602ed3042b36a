"""strength: are the bundle's held-out cases able to tell a wrong program from the right one?

In: the manifest's case ids, the kills, the pool, what each case asks and shows, the oracle's docs, the acceptance
rule. Out: an outcome whose evidence holds the figures. A held-out case that asks what nothing shows is too weak too.
Set arithmetic, so it holds for every revision and launches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from programsmith.bundle.manifest import Manifest
from programsmith.errors import InfraError
from programsmith.goldens.blind import blind_scores
from programsmith.goldens.expand import SURVIVORS
from programsmith.goldens.gates.nulls import null_reason
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.golden import Discovery, Golden, Kills
from programsmith.records.outcome import Outcome, Word
from programsmith.sources.tree import read_tar
from programsmith.verdict.discovery import lacks
from programsmith.verdict.strength import Strength, evidence, shortfalls, strength

NULLS = ("null_silent", "null_stdin", "null_first_file", "null_usage")


def run(job: Job) -> Outcome:
    """Judge the held-out cases of the revision's bundle."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    kills = codec.load(job.inputs["kills.json"], Kills)
    pool = {g.id: g for g in codec.load_lines(job.inputs["pool.jsonl"], Golden)}
    usage = {e.content.strip() for e in read_tar(job.inputs["docs.tar"]) if e.kind == "file"}
    missing = sorted(set(manifest.held_out) - set(pool))
    if missing:
        raise InfraError(f"strength: wanted held-out cases of the pool, got {missing[0]}; build again from goldens")
    rule = job.rules("acceptance")
    nulls = null_scores([pool[i] for i in manifest.held_out], usage)
    found = strength(kills, manifest.held_out, manifest.public, nulls, rule["interval"])
    discovery = codec.load(job.inputs["discovery.json"], dict[str, Discovery])
    unshown = sorted(lacks(manifest.public, manifest.held_out, discovery, kills).unshown)
    hidden = [f"{len(unshown)} held-out cases ask what nothing shows, the first is {unshown[0]}"] if unshown else []
    blind = blind_scores([pool[i] for i in manifest.held_out], [pool[i] for i in manifest.public], usage)
    sought = {i for i in manifest.held_out if pool[i].provenance.miner == SURVIVORS}
    figures = {
        **evidence(found),
        "killed_as_sought": killed_as_sought(found, kills, manifest.held_out, sought),
        "blind_scores": {name: round(share, 4) for name, share in blind.items()},
        "undiscoverable": unshown,
    }
    return decide_outcome(figures, [*shortfalls(found, rule), *hidden])


def decide_outcome(figures: dict[str, object], short: list[str]) -> Outcome:
    """too_weak with everything that falls short, else pass with the score."""
    if short:
        return Outcome(word=Word.TOO_WEAK, reason="; ".join(short), evidence={**figures, "shortfalls": short})
    return Outcome(
        word=Word.PASS,
        reason="mutation score {mutation_score} {interval} of {mutants} mutants".format(**figures),
        evidence=figures,
    )


def killed_as_sought(found: Strength, kills: Kills, held_out: Collection[str], sought: Collection[str]) -> int:
    """Killed mutants whose every known held-out killer was made to kill other ones: at most so many owe that alone."""
    alive, held = {m.id for m in found.survivors}, set(held_out)
    return sum(m.id not in alive and held & set(m.killers) <= set(sought) for m in kills.mutants)


def null_scores(held_out: list[Golden], usage: set[bytes]) -> dict[str, float]:
    """Share of the cases that each null program passes, by predicate over the golden."""
    passed = Counter(null_reason(g.case, g.expected, usage) for g in held_out)
    return {name: passed[name] / len(held_out) if held_out else 0.0 for name in NULLS}
