"""pick: which candidate becomes the task. By rule: the best score among those of the tool that the spec names.

In: candidates, spec.task.tool, spec.review, what was approved. Out: candidate.json with reasons. Says none_fit, naming
what exists, where the tool is none of the candidates'; parked, with the command that goes on, where a person is to look
first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Candidate
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.review import go_on, proposal


def run(job: Job) -> Outcome:
    """Pick, and write the candidate."""
    found = codec.load(job.inputs["candidates.json"], tuple[Candidate, ...])
    outcome, picked = decide(found, job.spec("task.tool", object))
    if picked is None:
        return outcome
    command = go_on(job.spec("name", str), "pick")
    accepted = job.spec("approved.pick", object) == proposal(picked)
    if "pick" in job.spec("review", list) and not accepted:
        return Outcome(
            word=Word.PARKED,
            reason=f"{outcome.reason}; review asks for a person: {command}",
            evidence={**outcome.evidence, "command": command, "proposal": proposal(picked)},
        )
    codec.dump(job.outputs["candidate.json"], picked)
    return outcome


def decide(found: Sequence[Candidate], tool: object) -> tuple[Outcome, Candidate | None]:
    """The outcome, and the candidate that it names. `found` is best first, as the matrix leaves it."""
    fitting = [c for c in found if tool in (None, c.tool)]
    tools = sorted({c.tool for c in found})
    if not fitting:
        reason = f"task.tool: wanted one of {', '.join(tools)}, got {tool}"
        return Outcome(word=Word.NONE_FIT, reason=reason, evidence={"tools": tools}), None
    best = fitting[0]
    why = "the spec names it" if tool is not None else f"best of {len(found)} by score"
    picked = dataclasses.replace(best, reasons=(*best.reasons, f"picked: {why}, score {best.score:.2f}"))
    reason = f"{best.tool} in {best.target_language} ({best.code_lines} lines, {best.options} options): {why}"
    evidence = {"tools": tools, "considered": len(found), "score": best.score, "reasons": list(picked.reasons)}
    return Outcome(word=Word.PICKED, reason=reason, evidence=evidence), picked
