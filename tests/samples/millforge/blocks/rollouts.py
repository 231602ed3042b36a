"""rollouts: counts the trials up to its batch."""

from __future__ import annotations

from millforge.labour import labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Count."""
    return labour(job, "rollouts", Word.DONE, trials=len(job.trials), records=len(job.records))
