"""triage: one label and its proof for every trial of the revision so far.

In: the record of rollouts, the manifest's case ids, what each case asks and shows, the kills, the rule. Out: done, or
defect where a trial failed by what is ours to mend, or scored without earning it. The labels are the evidence. A model,
where the spec names one, reads every transcript whole, piece by piece, and its word stands beside the labels: it
changes none of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.bundle.ground import read_ground
from programsmith.job import Job
from programsmith.models.ask import Questions, questions
from programsmith.models.request import Section, pieces, plain
from programsmith.records import codec
from programsmith.records.labels import Labelled, Labels
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.judging import fault_of, joined, lines
from programsmith.verdict.triage import BAD, attempt_of, triage

TRANSCRIPT = "t/transcript.json"
FACTS = 8000  # bytes of what is told of a trial beside its record


def run(job: Job) -> Outcome:
    """Label the trials."""
    found: Mapping[str, Any] = job.records["rollouts"].evidence
    infra = {_name(row): "no grade" for row in found["infra"]}
    attempts = [attempt_of(row) for row in found["trials"]]
    ground = read_ground(job.inputs, found["trials"])
    labels = triage(attempts, ground, job.rules("triage"), infra)
    own = questions(job, "triage", job.spec("models.judge", object))
    return decide(labels, judged(job, own, labels, ground.families) if own else None)


def judged(job: Job, own: Questions, labels: Labels, families: Mapping[str, str]) -> dict[str, Any]:
    """What a model says of each trial: for the evidence, and for nothing else."""
    put = 0
    found: list[_Heard] = []
    for trial in labels.trials:
        path = job.inputs.get(f"{TRANSCRIPT} of {_folder(trial)}")
        record = lines(codec.load(path, dict)) if path and path.exists() else []
        left = own.most - sum(len(j.pieces) for j in found)
        heard = _heard(own, trial, record, families, (left, put))
        put += heard.calls
        found.append(heard)
    rows = [codec.encode(joined(h.trial, h.told, h.faults, h.calls)) for h in found]
    return {"name": own.model, "calls": put, "trials": rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """What was said of the pieces of one trial."""

    trial: Labelled
    pieces: list[str]
    told: list[Any]
    faults: list[str]
    calls: int


def _heard(
    own: Questions, trial: Labelled, record: list[str], families: Mapping[str, str], at: tuple[int, int]
) -> _Heard:
    """Put every piece of a trial's record, as far as questions are left. `at`: those, and the calls made before."""
    left, put = at
    parts = pieces("\n".join(plain(line) for line in record), own.room - FACTS)
    if not record or len(parts) > left:
        fault = f"{len(parts)} pieces to read, {left} questions left" if record else "there is no record of it"
        return _Heard(trial=trial, pieces=[], told=[], faults=[fault], calls=0)
    told, faults, calls = [], [], 0
    for number, part in enumerate(parts, 1):
        facts = {
            "passed": trial.passed,
            "failed_hidden_cases_by_family": Counter(families[case] for case in trial.failing),
            "piece": f"{number} of {len(parts)}",
        }
        shown = [
            Section(name="facts", content=json.dumps(facts, indent=1), most=FACTS),
            Section(name="what the agent did", content=part, most=own.room),
        ]
        asked = own.put(shown, lambda said: fault_of(said, trial.passed, record), put + calls)
        calls += asked.calls
        told += [asked.answer] if asked.answer else []
        faults += [asked.fault] if asked.fault else []
    return _Heard(trial=trial, pieces=parts, told=told, faults=faults, calls=calls)


def _folder(trial: Labelled) -> str:
    own = f"{trial.pair.folder}/{trial.index}"
    return f"ceiling/{own}" if trial.ceiling else own


def decide(labels: Labels, model: Mapping[str, Any] | None = None) -> Outcome:
    """Defect where any label is bad, with the first proof as reason. `model` is what a judge says beside it."""
    counts = Counter(trial.label.value for trial in labels.trials)
    evidence = {"labels": codec.encode(labels), "counts": dict(sorted(counts.items())), "infra": len(labels.infra)}
    if model is not None:
        evidence["model"] = dict(model)
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
