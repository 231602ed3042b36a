"""Verdict and clean ore -> the shelf."""

from __future__ import annotations

import shutil

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Sell."""
    shutil.copytree(job.inputs["r/clean/"], job.outputs["dist/"])
    (job.outputs["dist/"] / "provenance.json").write_text("{}")
    return Outcome(word=Word.EXPORTED, reason="sold")
