"""weigh: wants more than six trials, then a harder revision than the first, then nothing."""

from __future__ import annotations

from millforge.labour import labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Weigh."""
    first = job.inputs["r/number.txt"].read_text().startswith("first")
    few = job.records["rollouts"].evidence["trials"] == 6
    return labour(job, "weigh", Word.MORE if first and few else Word.HARDEN if first else Word.IN_BAND)
