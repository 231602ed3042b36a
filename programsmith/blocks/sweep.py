"""sweep: harnesses and models beyond those of rollouts, tried in the same batches, labelled and judged in the same way.

In: records of the sweep's trials and grades, which were asked for, the record of rollouts, what each case asks and
shows, bands and rules. Out: a word. A spec without a sweep passes at once. A pair that rollouts names too shares its
trials with it: nothing is bought twice, and `shared` of the evidence counts them, for they tell nothing new.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from programsmith.bundle.ground import read_ground
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.labels import Labelled, Labels
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.attempts import missing, rows
from programsmith.verdict.bands import demands, judge_bands, rule_of
from programsmith.verdict.triage import BAD, attempt_of, triage

Row = Mapping[str, Any]


def run(job: Job) -> Outcome:
    """Label the sweep's trials and judge the bands on them."""
    wanted, rule = demands(job.spec("difficulty", list)), rule_of(job.rules)
    if not job.spec("sweep", object):
        return Outcome(word=Word.IN_BAND, reason="the spec asks for no sweep")
    found = rows(job.records.values(), job.trials)
    every = _labels(job, found)
    own = _those(every, found)
    shared = {row["key"] for row in job.records["rollouts"].evidence["trials"]} & {row["key"] for row in found}
    evidence = {
        "trials": found,
        "labels": codec.encode(dataclasses.replace(every, trials=own)),
        "shared": len(shared),
    }
    bad = [trial for trial in own if trial.label in BAD]
    if bad:
        first = bad[0]
        reason = f"{first.pair.agent}/{first.pair.model}:{first.index} is {first.label} by {first.proof}"
        return Outcome(word=Word.DEFECT, reason=f"{len(bad)} of {len(found)} trials: {reason}", evidence=evidence)
    ceiling = tuple(trial for trial in every.trials if trial.ceiling)
    others = tuple(trial for trial in every.trials if not trial.ceiling and trial not in own)
    judged = judge_bands(wanted, "sweep", dataclasses.replace(every, trials=(*own, *ceiling)), rule, before=others)
    return Outcome(word=judged.word, reason=judged.reason, evidence={**judged.evidence, **evidence})


def _labels(job: Job, found: Sequence[Row]) -> Labels:
    """Labels of the sweep's trials and of those of rollouts: each can show that another's failure was avoidable."""
    infra = {f"{r['pair']['agent']}/{r['pair']['model']}:{r['index']}": "no grade" for r in missing(job.trials, found)}
    known = {row["key"]: row for row in (*job.records["rollouts"].evidence["trials"], *found)}
    ground = read_ground(job.inputs, known.values())
    return triage([attempt_of(row) for row in known.values()], ground, job.rules("triage"), infra)


def _those(labels: Labels, found: Iterable[Row]) -> tuple[Labelled, ...]:
    """The labels of the trials in `found`."""
    there = {(row["pair"]["agent"], row["pair"]["model"], row["index"]) for row in found}
    return tuple(t for t in labels.trials if not t.ceiling and (t.pair.agent, t.pair.model, t.index) in there)
