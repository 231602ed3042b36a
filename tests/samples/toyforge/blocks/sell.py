"""Verdict and clean ore -> the shelf."""

from __future__ import annotations

import shutil

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Sell."""
    shutil.copytree(job.inputs["r/clean/"], job.outputs["dist/"])
    return Outcome(word=Word.EXPORTED, reason="sold")
