"""cut: the first bundle, and which that is."""

from __future__ import annotations

from millforge.labour import LAST, labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome


def run(job: Job) -> Outcome:
    """Cut."""
    made = labour(job, "cut")
    job.outputs["r/number.txt"].write_text(f"first\n{LAST}")
    return made
