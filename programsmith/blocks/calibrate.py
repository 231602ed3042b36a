"""calibrate: is the revision as hard as the spec demands, and can it be passed at all?

In: the labels of triage, the spec's bands, the rules. Out: a word; the posteriors, the solvability and the headroom are
the evidence. It buys nothing: an edit of a band reads the same trials again.
"""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Outcome
from programsmith.records.trial import pair_of
from programsmith.verdict.bands import demands, judge_bands, rule_of, warnings
from programsmith.verdict.batches import entries_of


def run(job: Job) -> Outcome:
    """Judge the bands on rollouts. A spec that sweeps leaves it to the sweep whether anybody passes."""
    labels = codec.decode(Labels, job.records["triage"].evidence["labels"])
    wanted = demands(job.spec("difficulty", list))
    swept = entries_of(job.spec("sweep", object))  # type: ignore[arg-type]  # a mapping, a list or null
    warned = warnings(wanted, (pair_of(entry) for entry in swept))
    for line in warned:
        job.say(line)
    found = judge_bands(wanted, "rollouts", labels, rule_of(job.rules), final=not swept)
    return Outcome(word=found.word, reason=found.reason, evidence={**found.evidence, "warnings": list(warned)})
