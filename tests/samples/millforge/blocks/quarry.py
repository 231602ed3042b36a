"""quarry: works, as often as the spec's generation is another."""

from __future__ import annotations

from millforge.labour import labour
from programsmith.job import Job
from programsmith.records.outcome import Outcome


def run(job: Job) -> Outcome:
    """Work. What it leaves tells the generation."""
    generation = job.spec("generation", int)
    made = labour(job, "quarry", generation=generation)
    stone = job.outputs["stone.txt"]
    stone.write_text(f"generation {generation}\n{stone.read_text()}")
    return made
