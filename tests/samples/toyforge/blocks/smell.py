"""Clean ore -> smells or not. Its `ok` stamp keeps its bytes whatever the nose is."""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Smell."""
    nose = job.rules("nose")["name"]
    job.outputs["r/smell.ok"].write_text("ok\n")
    return Outcome(word=Word.PASS, reason=f"smelt by {nose}")
