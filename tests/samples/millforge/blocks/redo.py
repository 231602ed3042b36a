"""redo: the second bundle."""

from __future__ import annotations

from millforge.labour import LAST, labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Work."""
    made = labour(job, "redo", Word.REVISED)
    job.outputs["next/number.txt"].write_text(f"second\n{LAST}")
    return made
