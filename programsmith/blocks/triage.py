"""triage: one label and its proof for every trial of the revision so far.

In: the record of rollouts, the manifest's case ids, what each case asks and shows, the kills, the rule. Out: done, or
defect where a trial failed by what is ours to mend, or scored without earning it. The labels are the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.ground import read_ground
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.triage import BAD, attempt_of, triage


def run(job: Job) -> Outcome:
    """Label the trials."""
    found: Mapping[str, Any] = job.records["rollouts"].evidence
    infra = {_name(row): "no grade" for row in found["infra"]}
    attempts = [attempt_of(row) for row in found["trials"]]
    return decide(triage(attempts, read_ground(job.inputs), job.rules("triage"), infra))


def decide(labels: Labels) -> Outcome:
    """Defect where any label is bad, with the first proof as reason."""
    counts = Counter(trial.label.value for trial in labels.trials)
    evidence = {"labels": codec.encode(labels), "counts": dict(sorted(counts.items())), "infra": len(labels.infra)}
    bad = [trial for trial in labels.trials if trial.label in BAD]
    if bad:
        first = bad[0]
        where = f"{first.pair.agent}/{first.pair.model}:{first.index}"
        cases = f", the first case is {first.cases[0]}" if first.cases else ""
        reason = f"{len(bad)} of {len(labels.trials)} trials: {where} is {first.label} by {first.proof}{cases}"
        return Outcome(word=Word.DEFECT, reason=reason, evidence=evidence)
    said = ", ".join(f"{n} {label}" for label, n in sorted(counts.items())) or "no trials"
    return Outcome(word=Word.DONE, reason=said, evidence=evidence)


def _name(row: Mapping[str, Any]) -> str:
    who = f"{row['pair']['agent']}/{row['pair']['model']}:{row['index']}"
    return f"{who} (ceiling)" if row["ceiling"] else who
