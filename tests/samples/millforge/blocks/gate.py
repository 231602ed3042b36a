"""gate: ships."""

from __future__ import annotations

from millforge.labour import labour
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Ship."""
    made = labour(job, "gate", Word.SHIP)
    codec.dump(job.outputs["verdict.json"], {"outcome": "ship", "made": made.reason, "records": sorted(job.records)})
    return made
