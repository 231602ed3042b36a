"""All records -> verdict."""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Word

NO = (Word.REJECT, Word.TOO_WEAK, Word.FAIL)


def run(job: Job) -> Outcome:
    """Judge."""
    refused = sorted(name for name, record in job.records.items() if record.outcome in NO)
    word = Word.DROP if refused else Word.DRAFT
    verdict = {"outcome": word.value, "refused": refused, "records": sorted(job.records), "saw": sorted(job.inputs)}
    codec.dump(job.outputs["verdict.json"], verdict)
    return Outcome(word=word, reason=", ".join(refused) or "all well")
