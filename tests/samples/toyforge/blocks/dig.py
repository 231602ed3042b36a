"""Spec and source -> ore. Rejects an empty mine."""

from __future__ import annotations

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word


def run(job: Job) -> Outcome:
    """Dig."""
    mine = (job.project / job.spec("source.path", str) / "ore").read_text()
    if not mine:
        return Outcome(word=Word.REJECT, reason="the mine is empty")
    ore = mine * job.spec("generation", int)
    job.outputs["ore.txt"].write_text(ore)
    job.say(f"dug {len(ore)} letters")
    return Outcome(word=Word.PASS, reason=f"{len(ore)} letters", evidence={"letters": len(ore)})
