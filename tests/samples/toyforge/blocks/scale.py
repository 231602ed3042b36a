"""Clean ore -> heavy enough or not."""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Weigh."""
    weight = sum(piece.stat().st_size for piece in job.inputs["r/clean/"].iterdir())
    least = job.rules("weights")["least"]
    word = Word.PASS if weight >= least else Word.TOO_WEAK
    return Outcome(word=word, reason=f"{weight} of {least}", evidence={"weight": weight})
