"""trial: works, at the price that its entry states."""

from __future__ import annotations

from millforge.labour import labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def bound(job: Job) -> float:
    """The price."""
    return float(job.trial.entry.get("usd") or 0.0) if job.trial else 0.0


def run(job: Job) -> Outcome:
    """Work."""
    return labour(job, "trial", Word.DONE, usd=bound(job))
