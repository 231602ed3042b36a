"""gate: the spec's verdict, q = b·v·h·¬s, over every block that has settled, however far the revision came.

In: the records, lock, candidate and lineage where they exist, horizon, rollouts, sweep and review of the spec, what was
approved, where else it was proven, acceptance rule and routes. Out: verdict.json.
"""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Candidate, Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.records.revision import Lineage
from programsmith.verdict.acceptance import Asked, verdict
from programsmith.verdict.batches import entries_of
from programsmith.verdict.review import proposal
from programsmith.verdict.routes import Routes

SAYS = {Word.REJECT: Word.DROP}  # a spec that ends before it has a bundle is rejected; the gate says that it drops it


def run(job: Job) -> Outcome:
    """Write the verdict and say it."""
    seen = proposal({block: [r.outcome, r.evidence] for block, r in job.records.items()})
    asked = _asked(job, accepted=job.spec("approved.gate", object) == seen)
    found = verdict(job.records, Routes(job.rules("routes")), asked)
    codec.dump(job.outputs["verdict.json"], found)
    return Outcome(
        word=SAYS.get(found.outcome, found.outcome),
        reason=found.reasons[0],
        evidence={"outcome": found.outcome.value, "q": found.q, "reasons": list(found.reasons), "proposal": seen},
    )


def _asked(job: Job, *, accepted: bool) -> Asked:
    return Asked(
        name=job.spec("name", str),
        rollouts=bool(job.spec("rollouts", list)),
        review="gate" in job.spec("review", list) and not accepted,
        lines=_lines(job),
        min_lines=job.spec("horizon.min_lines", int),
        rule=job.rules("acceptance"),
        sweep=bool(job.spec("sweep", object)),
        models=_models(job),
        revision=_revision(job),
        proven=job.spec("proven", dict),
    )


def _models(job: Job) -> bool:
    """Whether the spec lets a real model try."""
    swept = entries_of(job.spec("sweep", object))  # type: ignore[arg-type]  # a mapping, a list or null
    return any(entry.get("model") for entry in (*job.spec("rollouts", list), *swept))


def _revision(job: Job) -> int:
    """The number of the revision that its lineage tells; 0 where there is none yet."""
    if "r/ops.json" not in job.inputs:
        return 0
    return max((op.made for op in codec.load(job.inputs["r/ops.json"], Lineage).operations), default=0)


def _lines(job: Job) -> int | None:
    """Code lines in scope of the candidate, of the whole source where none is picked, None before ingest."""
    if "candidate.json" in job.inputs:
        return codec.load(job.inputs["candidate.json"], Candidate).code_lines
    if "lock.json" in job.inputs:
        return codec.load(job.inputs["lock.json"], Lock).code_lines
    return None
