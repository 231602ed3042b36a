"""The stamp of smell -> a box. Depends on the stamp's bytes only."""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Box."""
    job.outputs["r/box.txt"].write_bytes(job.inputs["r/smell.ok"].read_bytes())
    return Outcome(word=Word.PASS, reason="boxed")
